//! Activation heights of all rules and the constants of all networks.

use crate::vectors::{cases, spec, text};
use rhizome_primitives::{Rule, Rules};

#[test]
fn golden_activations() {
    let cases = cases("blocks/activations.json");
    for case in &cases {
        let spec = spec(case);
        assert_eq!(Some(u64::from(spec.chain_id)), case["chainId"].as_u64());
        let heights = case["rules"].as_object().unwrap();
        assert_eq!(heights.len(), Rule::ALL.len());
        for (name, height) in heights {
            let rule = Rule::by_name(name).unwrap();
            let height = u64::try_from(height.as_i64().unwrap()).ok();
            assert_eq!(spec.height(rule), height, "{} {name}", text(case, "net"));
            if let Some(height) = height {
                assert!(spec.rules(height).is_active(rule) && spec.activates_at(rule, height));
                assert!(height == 0 || !spec.rules(height - 1).is_active(rule));
                assert!(spec.is_active(rule, u64::MAX) && spec.rules(u64::MAX).is_active(rule));
            } else {
                assert!(!spec.rules(u64::MAX).is_active(rule));
            }
        }
        assert_ne!(spec.rules(0), Rules::all());

        let constants = &spec.constants;
        let expected = &case["constants"];
        let number = |key: &str| expected[key].as_u64().unwrap();
        assert_eq!(u64::from(constants.duration_limit), number("durationLimit"));
        assert_eq!(constants.minimum_difficulty.to_string(), text(expected, "minimumDifficulty"));
        assert_eq!(constants.fallback_difficulty.to_string(), text(expected, "fallbackMiningDifficulty"));
        assert_eq!(constants.difficulty_bound_divisor.to_string(), text(expected, "difficultyBoundDivisorBefore156"));
        assert_eq!(constants.max_seconds_in_future, number("newBlockMaxSecondsInTheFuture"));
        assert_eq!(constants.min_sequential_gas_limit, number("minSequentialSetGasLimit"));
        assert_eq!(constants.min_gas_limit, number("minGasLimit"));
        assert_eq!(constants.gas_limit_bound_divisor, number("gasLimitBoundDivisor"));
        assert_eq!(constants.uncle_list_limit as u64, number("uncleListLimit"));
        assert_eq!(constants.uncle_generation_limit, number("uncleGenerationLimit"));
        assert_eq!(constants.maximum_extra_data_size as u64, number("maximumExtraDataSize"));
        assert_eq!(constants.parallel_sublists as u64, number("txExecutionThreads"));
    }
    assert_eq!(cases.len(), 5);
}
