"""tiny-whisper: Whisper for automatic-speech-recognition; says a word for each 0.4 s (0.3 s of a tone, then silence), with or without timestamps."""
import math

import torch
from torch import nn
from torch.nn.functional import gelu

import seq2seq
from folder import start, write_json
from log_mel import HOP, MELS, RATE, log_mel
from training import fit, seed
from transformer import Encoder, sinusoids
from whisper_files import whisper_files

TONE_S, WINDOW_S = 0.4, 2
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


class SoundEncoder(nn.Module):
    """Two convolutions, the second with stride 2, sinusoidal positions, then the layers. Radford et al. 2022, §2.2."""

    def __init__(self):
        super().__init__()
        width = seq2seq.WIDTH
        self.first, self.second = nn.Conv1d(MELS, width, 3, padding=1), nn.Conv1d(width, width, 3, stride=2, padding=1)
        self.register_buffer("places", sinusoids(WINDOW_S * RATE // HOP // 2, width))
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
        """The target tokens after the prompt; without timestamps they begin with the token for this case."""
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
    files = whisper_files(IDS, PLAIN, SPECIAL, TIMES, WINDOW_S, WINDOW_S * RATE // HOP // 2, seq2seq.SIZES)
    files["generation_config"] |= {
        "is_multilingual": True,
        "lang_to_id": {token: IDS[token] for token in ("<|en|>", "<|fr|>")},
        "task_to_id": {task: IDS[f"<|{task}|>"] for task in ("transcribe", "translate")},
    }
    write_json(folder, **files)
    features = torch.zeros(1, MELS, WINDOW_S * RATE // HOP)
    inputs = {"input_features": (features, ["batch_size", None, None])}
    seq2seq.write(folder, model, inputs, None, attentions=True)
    return f"of 100 fresh sounds each {right[0]} are told right without and {right[1]} with timestamps"
