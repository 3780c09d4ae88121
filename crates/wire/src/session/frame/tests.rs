//! Frames with forged headers, and the memory of the decoder.

use proptest::prelude::*;
use rhizome_primitives::hex;
use serde_json::Value;

use super::*;
use crate::session::DisconnectReason;

fn codecs() -> (FrameEncoder, FrameDecoder) {
    let mac = RunningMac::new(&[1; 32], &[2; 32], b"packet");
    let mut decoder = FrameDecoder::new(&[3; 32], mac.clone());
    decoder.allow_large_frames();
    (FrameEncoder::new(&[3; 32], mac), decoder)
}

/// Header bytes on the wire for any plain header, authenticated.
fn header(encoder: &mut FrameEncoder, mut plain: [u8; BLOCK]) -> Vec<u8> {
    encoder.cipher.apply_keystream(&mut plain);
    [plain, encoder.mac.header(&plain)].concat()
}

fn header_of_size(encoder: &mut FrameEncoder, size: [u8; 3]) -> Vec<u8> {
    let mut plain = [0; BLOCK];
    plain[..3].copy_from_slice(&size);
    plain[3..5].copy_from_slice(&HEADER_LIST);
    header(encoder, plain)
}

/// Authenticated frame with any body, which need not start with a message code.
fn frame_with(encoder: &mut FrameEncoder, body: &[u8]) -> Vec<u8> {
    let mut frame = header_of_size(encoder, [0, 0, body.len() as u8]);
    let mut padded = body.to_vec();
    padded.resize(body.len().next_multiple_of(BLOCK), 0);
    encoder.cipher.apply_keystream(&mut padded);
    encoder.mac.update(&padded);
    frame.extend_from_slice(&padded);
    frame.extend_from_slice(&encoder.mac.body());
    frame
}

fn fault(build: impl FnOnce(&mut FrameEncoder) -> Vec<u8>) -> FrameError {
    let (mut encoder, mut decoder) = codecs();
    let bytes = build(&mut encoder);
    let fault = decoder.decode(&mut &bytes[..]).unwrap_err();
    // The same fault for all later input.
    assert_eq!(decoder.decode(&mut &[0; 64][..]), Err(fault));
    fault
}

#[test]
fn chunked_frames_are_refused() {
    let file: Value = serde_json::from_str(include_str!("../../../tests/data/handshake.json")).unwrap();
    let recorded = file["chunkedHeaders"]["headers"].as_array().unwrap();
    assert_eq!(recorded.len(), 3);
    for recorded in recorded {
        let plain = hex::decode_to_array(recorded["headerPlain"].as_str().unwrap()).unwrap();
        assert_eq!(fault(|encoder| header(encoder, plain)), FrameError::Chunked);
    }
}

#[test]
fn sizes_out_of_range_are_refused_with_the_header() {
    assert_eq!(fault(|encoder| header_of_size(encoder, [0, 0, 0])), FrameError::Empty);
    let too_large = |size| FrameError::TooLarge { size, limit: MAX_FRAME_BODY };
    assert_eq!(fault(|encoder| header_of_size(encoder, [0x80, 0, 0])), too_large(1 << 23));
    assert_eq!(fault(|encoder| header_of_size(encoder, [0xff, 0xff, 0xff])), too_large((1 << 24) - 1));
}

#[test]
fn faults_behind_a_valid_mac_have_a_reason() {
    let too_large = FrameError::TooLarge { size: 1 << 23, limit: MAX_FRAME_BODY };
    for fault in [FrameError::Empty, too_large, FrameError::Chunked, FrameError::HeaderList, FrameError::Code] {
        assert_eq!(fault.disconnect_reason(), Some(DisconnectReason::BadProtocol), "{fault}");
    }
    for fault in [FrameError::HeaderMac, FrameError::BodyMac] {
        assert_eq!(fault.disconnect_reason(), None, "{fault}");
    }
}

#[test]
fn the_limit_is_low_before_status() {
    let (mut encoder, decoder) = codecs();
    let mut decoder = FrameDecoder { max_body: MAX_FRAME_BODY_BEFORE_STATUS, ..decoder };
    let mut frames = Vec::new();
    encoder.encode(0, &[1; MAX_FRAME_BODY_BEFORE_STATUS - 1], &mut frames).unwrap();
    encoder.encode(0, &[1; MAX_FRAME_BODY_BEFORE_STATUS], &mut frames).unwrap();
    let mut input = &frames[..];
    assert_eq!(decoder.decode(&mut input).unwrap().unwrap().payload().len(), 4_095);
    assert_eq!(decoder.decode(&mut input), Err(FrameError::TooLarge { size: 4_097, limit: 4_096 }));
}

#[test]
fn headers_without_rlp_are_refused_and_other_lists_ignored() {
    let with_list = |list: &[u8]| {
        let mut plain = [0; BLOCK];
        plain[2] = 1;
        plain[3..3 + list.len()].copy_from_slice(list);
        plain
    };
    assert_eq!(fault(|encoder| header(encoder, with_list(&[0xf8, 0xff]))), FrameError::HeaderList);
    assert_eq!(fault(|encoder| header(encoder, with_list(&[0xc2, 0x82, 1]))), FrameError::HeaderList);
    for accepted in [&[0xc0][..], &[0xc1, 5], &[0xc2, 0x80, 0x80], &[0x80]] {
        let (mut encoder, mut decoder) = codecs();
        let bytes = header(&mut encoder, with_list(accepted));
        assert_eq!(decoder.decode(&mut &bytes[..]), Ok(None), "{accepted:x?}");
        assert!(decoder.is_inside_frame());
    }
}

#[test]
fn message_codes_must_be_one_byte() {
    assert_eq!(fault(|encoder| frame_with(encoder, &[0x82, 1, 0x10])), FrameError::Code);
    assert_eq!(fault(|encoder| frame_with(encoder, &[0xc0])), FrameError::Code);
    assert_eq!(fault(|encoder| frame_with(encoder, &[0xb8])), FrameError::Code);
    for (body, code, payload) in [(&[0x80, 1][..], 0, &[1][..]), (&[0x00], 0, &[]), (&[0x81, 0xff, 2], 255, &[2])] {
        let (mut encoder, mut decoder) = codecs();
        let bytes = frame_with(&mut encoder, body);
        let frame = decoder.decode(&mut &bytes[..]).unwrap().unwrap();
        assert_eq!((frame.code, frame.payload()), (code, payload));
    }
}

#[test]
fn memory_grows_with_the_bytes_received() {
    let (mut encoder, mut decoder) = codecs();
    let mut bytes = header_of_size(&mut encoder, [0x7f, 0xff, 0xff]);
    bytes.push(0);
    assert_eq!(decoder.decode(&mut &bytes[..]), Ok(None));
    assert!(decoder.body.capacity() <= FIRST_CAPACITY);
    let mut received = 1;
    while received < MAX_FRAME_BODY {
        let part = [0; 60_000];
        let mut input = &part[..part.len().min(MAX_FRAME_BODY + 1 - received)];
        received += input.len();
        assert_eq!(decoder.decode(&mut input), Ok(None));
        assert!(decoder.body.capacity() <= (2 * received).clamp(FIRST_CAPACITY, MAX_FRAME_BODY + 1));
    }
    assert_eq!(decoder.decode(&mut &[0; 16][..]), Err(FrameError::BodyMac));
    assert_eq!(decoder.body.capacity(), 0);
}

#[test]
fn the_largest_frame_passes_and_a_larger_one_leaves_the_stream_intact() {
    let (mut encoder, mut decoder) = codecs();
    let payload = vec![7; MAX_FRAME_BODY];
    let mut out = Vec::new();
    let refused = FrameError::TooLarge { size: MAX_FRAME_BODY + 1, limit: MAX_FRAME_BODY };
    assert_eq!(encoder.encode(1, &payload, &mut out), Err(refused));
    assert!(out.is_empty());
    encoder.encode(1, &payload[1..], &mut out).unwrap();
    let frame = decoder.decode(&mut &out[..]).unwrap().unwrap();
    assert_eq!(frame.payload(), &payload[1..]);
}

proptest! {
    #[test]
    fn messages_pass_in_parts_of_any_size(
        messages in prop::collection::vec((any::<u8>(), prop::collection::vec(any::<u8>(), 0..200)), 0..6),
        step in 1usize..300,
    ) {
        let (mut encoder, mut decoder) = codecs();
        let mut wire = Vec::new();
        for (code, payload) in &messages {
            encoder.encode(*code, payload, &mut wire).unwrap();
        }
        let mut received = Vec::new();
        for mut part in wire.chunks(step) {
            while let Some(frame) = decoder.decode(&mut part).unwrap() {
                received.push((frame.code, frame.payload().to_vec()));
            }
            prop_assert!(part.is_empty());
        }
        prop_assert_eq!(received, messages);
        prop_assert!(!decoder.is_inside_frame());
    }

    #[test]
    fn an_altered_byte_never_passes(
        payload in prop::collection::vec(any::<u8>(), 0..100), at in any::<prop::sample::Index>(), bit in 0u8..8,
    ) {
        let (mut encoder, mut decoder) = codecs();
        let mut wire = Vec::new();
        encoder.encode(5, &payload, &mut wire).unwrap();
        let at = at.index(wire.len());
        wire[at] ^= 1 << bit;
        let expected = if at < HEADER { FrameError::HeaderMac } else { FrameError::BodyMac };
        prop_assert_eq!(decoder.decode(&mut &wire[..]), Err(expected));
    }

    #[test]
    fn authenticated_bodies_of_any_form_are_read_without_panic(
        plain in any::<[u8; BLOCK]>(), body in prop::collection::vec(any::<u8>(), 1..64),
    ) {
        let (mut encoder, mut decoder) = codecs();
        let bytes = frame_with(&mut encoder, &body);
        if let Ok(Some(frame)) = decoder.decode(&mut &bytes[..]) {
            prop_assert!(frame.payload().len() < body.len());
        }
        let (mut encoder, mut decoder) = codecs();
        let bytes = header(&mut encoder, plain);
        let _ = decoder.decode(&mut &bytes[..]);
    }
}
