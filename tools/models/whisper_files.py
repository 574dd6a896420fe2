"""The JSON files of a Whisper model: configuration, preprocessor, a tokenizer whose words are tokens."""
import seq2seq
from log_mel import HOP, MELS, RATE


def whisper_files(ids, words, special, times, window_s, states, sizes):
    """
    @param ids      of all tokens
    @param words    the tokens of words, with the space before them as Ġ
    @param special  the tokens that are no text; the first one ends
    @param times    the tokens of timestamps
    @param states   how many the encoder gives for a window
    @param sizes    widths, layers and heads, by their names in config.json
    """
    end = special[0]
    tokens = {
        "decoder_start_token_id": ids["<|startoftranscript|>"],
        "bos_token_id": ids[end],
        "eos_token_id": ids[end],
        "pad_token_id": ids[end],
    }
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "config": {
            "model_type": "whisper",
            "architectures": ["WhisperForConditionalGeneration"],
            "is_encoder_decoder": True,
            "vocab_size": len(ids),
            "num_mel_bins": MELS,
            "max_source_positions": states,
            "max_target_positions": seq2seq.POSITIONS,
            "median_filter_width": 7,
            **sizes,
            **tokens,
        },
        "generation_config": {
            **tokens,
            "is_multilingual": False,
            "no_timestamps_token_id": ids["<|notimestamps|>"],
            "max_initial_timestamp_index": 50,
            "max_length": seq2seq.POSITIONS,
            # [layer, head] of the attention to the audio of the next word.
            "alignment_heads": [[0, 0]],
        },
        "preprocessor_config": {
            "feature_extractor_type": "WhisperFeatureExtractor",
            "processor_class": "WhisperProcessor",
            "chunk_length": window_s,
            "feature_size": MELS,
            "hop_length": HOP,
            "n_fft": 400,
            "n_samples": RATE * window_s,
            "sampling_rate": RATE,
            "nb_max_frames": RATE * window_s // HOP,
            "padding_side": "right",
            "padding_value": 0.0,
            "return_attention_mask": False,
        },
        "tokenizer": {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "normalizer": None,
            "post_processor": None,
            # As in Whisper's own tokenizer, a timestamp is an added token but not a special one.
            "added_tokens": [
                {"id": ids[token], "content": token, **flags, "special": token in special}
                for token in [*special, *times]
            ],
            "pre_tokenizer": byte_level,
            "decoder": byte_level,
            "model": {
                "type": "BPE",
                "vocab": {token: ids[token] for token in words},
                "merges": [],
                "unk_token": None,
                "continuing_subword_prefix": "",
                "end_of_word_suffix": "",
                "dropout": None,
                "fuse_unk": False,
                "byte_fallback": False,
            },
        },
        "tokenizer_config": {
            "tokenizer_class": "WhisperTokenizer",
            "model_max_length": seq2seq.POSITIONS,
            "bos_token": end,
            "eos_token": end,
            "unk_token": end,
            "pad_token": end,
        },
    }
