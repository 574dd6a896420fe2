"""tiny-whisper: Whisper for automatic-speech-recognition; says a word for each 0.4 s (0.3 s of a tone, then silence), with or without timestamps."""
import math

import torch
from torch import nn
from torch.nn.functional import gelu

import seq2seq
from folder import start, write_json
from training import fit, seed
from transformer import Encoder

RATE, TONE_S, WINDOW_S, HOP, MELS = 16_000, 0.4, 2, 160, 40
WORDS = ["one", "two", "three", "four", "five"]
TONE_HZ = {word: 400 + 300 * i for i, word in enumerate(WORDS)}
STEP_S = 0.02
MAX_WORDS = int(WINDOW_S / TONE_S)

PLAIN = [f"Ġ{word}" for word in WORDS]
SPECIAL = [
    "<|endoftext|>",
    "<|startoftranscript|>",
    "<|en|>",
    "<|fr|>",
    "<|translate|>",
    "<|transcribe|>",
    "<|notimestamps|>",
]
TIMES = [f"<|{i * STEP_S:.2f}|>" for i in range(int(WINDOW_S / STEP_S) + 1)]
IDS = {token: i for i, token in enumerate([*PLAIN, *SPECIAL, *TIMES])}
END = IDS["<|endoftext|>"]
PROMPT = [IDS["<|startoftranscript|>"], IDS["<|en|>"], IDS["<|transcribe|>"]]


def mel_filters():
    """Slaney's scale: linear up to 1 kHz, then logarithmic; each triangle has area 1. float32 [MELS, 201]"""

    def to_hz(mel):
        return mel * 200 / 3 if mel < 15 else 1000 * math.exp((mel - 15) * math.log(6.4) / 27)

    highest = 15 + math.log(8) * 27 / math.log(6.4)
    edges = torch.tensor([to_hz(i * highest / (MELS + 1)) for i in range(MELS + 2)])
    bins = torch.linspace(0, RATE / 2, 201)
    rise = (bins - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    fall = (edges[2:, None] - bins) / (edges[2:] - edges[1:-1])[:, None]
    return torch.minimum(rise, fall).clamp(min=0) * (2 / (edges[2:] - edges[:-2]))[:, None]


FILTERS, HANN = mel_filters(), torch.hann_window(400)


def log_mel(sound):
    """The same as WhisperFeatureExtractor. float32 [samples] -> [MELS, frames]"""
    power = (
        torch.stft(sound, 400, HOP, window=HANN, center=True, pad_mode="reflect", return_complex=True)[:, :-1].abs()
        ** 2
    )
    mel = (FILTERS @ power).clamp(min=1e-10).log10()
    return (torch.maximum(mel, mel.max() - 8) + 4) / 4


class SoundEncoder(nn.Module):
    """Two convolutions, the second with stride 2, sinusoidal positions, then the layers. Radford et al. 2022, §2.2."""

    def __init__(self):
        super().__init__()
        width = seq2seq.WIDTH
        self.first, self.second = nn.Conv1d(MELS, width, 3, padding=1), nn.Conv1d(width, width, 3, stride=2, padding=1)
        turns = torch.arange(WINDOW_S * RATE // HOP // 2)[:, None] * torch.exp(
            -math.log(10_000) * torch.arange(width // 2) / (width // 2 - 1)
        )
        self.register_buffer("places", torch.cat([turns.sin(), turns.cos()], 1))
        self.encoder = Encoder(width, seq2seq.HEADS, 1, pre=True)

    def forward(self, input_features):
        x = gelu(self.second(gelu(self.first(input_features))))
        return self.encoder(x.transpose(1, 2) + self.places)


def make():
    random = seed(9)
    model = seq2seq.EncoderDecoder(SoundEncoder(), len(IDS), masked=False, pre=True)
    time = torch.arange(int(RATE * TONE_S)) / RATE
    tones = {word: torch.sin(2 * math.pi * hz * time) * (time < 0.75 * TONE_S) for word, hz in TONE_HZ.items()}

    def hear(words):
        sound = torch.zeros(RATE * WINDOW_S)
        played = torch.cat([tones[word] for word in words]) * random.uniform(0.2, 0.8)
        sound[: len(played)] = played
        return log_mel(sound)

    def answer(words, timed):
        """The target tokens after the prompt; without timestamps they begin with the token that says so."""
        said = [IDS[f"Ġ{word}"] for word in words]
        return (
            [IDS["<|0.00|>"], *said, IDS[f"<|{len(words) * TONE_S:.2f}|>"], END]
            if timed
            else [IDS["<|notimestamps|>"], *said, END]
        )

    def batch(size, timed):
        """@param timed  () -> whether an example has timestamps"""
        said = [random.choices(WORDS, k=random.randint(1, MAX_WORDS)) for _ in range(size)]
        sounds = torch.stack([hear(words) for words in said])
        return (sounds,), torch.tensor([PROMPT] * size), [answer(words, timed()) for words in said]

    def loss():
        sounds, prompts, answers = batch(16, lambda: random.random() < 0.5)
        return model.loss(sounds, prompts, seq2seq.pad(answers))

    fit(model, 300, loss, rate=2e-3)
    right = []
    for timed in (False, True):
        sounds, prompts, answers = batch(100, lambda: timed)
        # The caller chooses the first token.
        first = torch.tensor([row[:1] for row in answers])
        right.append(
            model.count_right(sounds, torch.cat([prompts, first], 1), seq2seq.pad([row[1:] for row in answers]))
        )
    folder = start("tiny-whisper")
    tokens = {
        "decoder_start_token_id": IDS["<|startoftranscript|>"],
        "bos_token_id": END,
        "eos_token_id": END,
        "pad_token_id": END,
    }
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    write_json(
        folder,
        config={
            "model_type": "whisper",
            "architectures": ["WhisperForConditionalGeneration"],
            "is_encoder_decoder": True,
            "vocab_size": len(IDS),
            "num_mel_bins": MELS,
            "max_source_positions": WINDOW_S * RATE // HOP // 2,
            "max_target_positions": seq2seq.POSITIONS,
            "median_filter_width": 7,
            **seq2seq.SIZES,
            **tokens,
        },
        generation_config={
            **tokens,
            "is_multilingual": True,
            "lang_to_id": {token: IDS[token] for token in ("<|en|>", "<|fr|>")},
            "task_to_id": {task: IDS[f"<|{task}|>"] for task in ("transcribe", "translate")},
            "no_timestamps_token_id": IDS["<|notimestamps|>"],
            "max_initial_timestamp_index": 50,
            "max_length": seq2seq.POSITIONS,
            # Of the heads of [layer, head] this one looks at the sound of the word that comes next.
            "alignment_heads": [[0, 0]],
        },
        preprocessor_config={
            "feature_extractor_type": "WhisperFeatureExtractor",
            "processor_class": "WhisperProcessor",
            "chunk_length": WINDOW_S,
            "feature_size": MELS,
            "hop_length": HOP,
            "n_fft": 400,
            "n_samples": RATE * WINDOW_S,
            "sampling_rate": RATE,
            "nb_max_frames": RATE * WINDOW_S // HOP,
            "padding_side": "right",
            "padding_value": 0.0,
            "return_attention_mask": False,
        },
        tokenizer={
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "normalizer": None,
            "post_processor": None,
            # As in Whisper's own tokenizer, a timestamp is an added token but not a special one.
            "added_tokens": [
                {"id": IDS[token], "content": token, **flags, "special": token in SPECIAL}
                for token in [*SPECIAL, *TIMES]
            ],
            "pre_tokenizer": byte_level,
            "decoder": byte_level,
            "model": {
                "type": "BPE",
                "vocab": {token: IDS[token] for token in PLAIN},
                "merges": [],
                "unk_token": None,
                "continuing_subword_prefix": "",
                "end_of_word_suffix": "",
                "dropout": None,
                "fuse_unk": False,
                "byte_fallback": False,
            },
        },
        tokenizer_config={
            "tokenizer_class": "WhisperTokenizer",
            "model_max_length": seq2seq.POSITIONS,
            "bos_token": "<|endoftext|>",
            "eos_token": "<|endoftext|>",
            "unk_token": "<|endoftext|>",
            "pad_token": "<|endoftext|>",
        },
    )
    features = torch.zeros(1, MELS, WINDOW_S * RATE // HOP)
    inputs = {"input_features": (features, ["batch_size", None, None])}
    seq2seq.write(folder, model, inputs, None, attentions=True)
    return f"of 100 fresh sounds each {right[0]} are told right without and {right[1]} with timestamps"
