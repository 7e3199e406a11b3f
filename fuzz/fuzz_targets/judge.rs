#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| rotation_game_fuzz::judge(input));
