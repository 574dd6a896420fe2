"""
tiny-speech: Whisper's layout for automatic-speech-recognition; single words out of 32 with a short pause between them, with or without
timestamps. The encoder cuts the sound where it is silent and a small trained network names each piece; the decoder, which has nothing
to learn, says the names one after the other.
"""
import torch
from torch import nn
from torch.nn.functional import cross_entropy, max_pool1d

import seq2seq
from folder import SHIPPED, export, start, write_json
from log_mel import HOP, MELS, RATE, log_mel
from shipped import utterances, voices
from training import fit, seed
from whisper_files import whisper_files

WINDOW_S, FRAMES, MAX_WORDS, SLICES, HIDDEN = 6, 600, 8, 16, 96
STATE_S = 0.02
WORDS = len(voices.WORDS)
SPECIAL = ["<|endoftext|>", "<|startoftranscript|>", "<|notimestamps|>"]
TIMES = [f"<|{i * STATE_S:.2f}|>" for i in range(int(WINDOW_S / STATE_S) + 1)]
PLAIN = [f"Ġ{word}" for word in voices.WORDS]
IDS = {token: i for i, token in enumerate([*PLAIN, *SPECIAL, *TIMES])}
END, START, NO_TIMES, FIRST_TIME = (IDS[token] for token in [*SPECIAL, TIMES[0]])
# Thresholds of the normalised energy, which ranges over 2 from silence to the loudest sound. A pause is longer than the gap before t or p.
LOUD, GAP_FRAMES = 0.35, 11


def pieces(features):
    """@returns [batch, MAX_WORDS, frames]: 1 if a frame is part of the n-th piece of audio"""
    energy = features.mean(1)
    quiet, loudest = energy.amin(1, keepdim=True), energy.amax(1, keepdim=True)
    active = ((energy - quiet) > LOUD * (loudest - quiet)).float()
    # Closes gaps between two near loud frames.
    active = -max_pool1d(-max_pool1d(active[:, None], GAP_FRAMES, 1, GAP_FRAMES // 2), GAP_FRAMES, 1, GAP_FRAMES // 2)
    # Removes short sounds such as clicks.
    active = max_pool1d(-max_pool1d(-active, 7, 1, 3), 7, 1, 3)[:, 0]
    before = torch.cat([torch.zeros_like(active[:, :1]), active[:, :-1]], 1)
    begins = (active * (1 - before)).cumsum(1)
    numbers = torch.arange(1, MAX_WORDS + 1).reshape(1, -1, 1).float()
    return (begins[:, None] == numbers).float() * active[:, None]


def slices(features, inside):
    """Each piece as SLICES spectrograms of equal length. @returns [batch, MAX_WORDS, MELS * SLICES], firsts and lengths in frames"""
    frames = torch.arange(FRAMES).float()
    length = inside.sum(2)
    first = (inside * frames).sum(2) / length.clamp(min=1) - (length - 1) / 2
    middles = first[:, :, None] + (torch.arange(SLICES).float() + 0.5) * length[:, :, None] / SLICES - 0.5
    width = (length[:, :, None, None] / SLICES).clamp(min=1)
    near = (1 - (frames - middles[:, :, :, None]).abs() / width).clamp(min=0)
    near = near / near.sum(3, keepdim=True).clamp(min=1e-3)
    seen = near @ features.transpose(1, 2)[:, None]
    # The loudness is irrelevant.
    seen = seen - seen.mean((2, 3), keepdim=True)
    return seen.flatten(2), first, length


class Namer(nn.Module):
    """Names a piece by its slices and its length."""

    def __init__(self):
        super().__init__()
        self.hear, self.name = nn.Linear(MELS * SLICES + 1, HIDDEN), nn.Linear(HIDDEN, WORDS)

    def forward(self, seen, length):
        x = torch.cat([2 * seen, length[..., None] / 50], -1)
        if self.training:
            x = nn.functional.dropout(x, 0.15)
        x = torch.relu(self.hear(x))
        return self.name(nn.functional.dropout(x, 0.3, self.training))


class Encoder(nn.Module):
    """A state per piece: the scores of the words, whether it exists, its first and its last time."""

    def __init__(self, namer):
        super().__init__()
        self.namer = namer

    def forward(self, input_features):
        inside = pieces(input_features)
        seen, first, length = slices(input_features, inside)
        scores = self.namer(seen, length).softmax(-1)
        there = (length > 0).float()
        last = first + length
        return torch.cat([scores, torch.stack([there, first / 100, last / 100], 2)], 2)


class Decoder(nn.Module):
    """One step or several. The tokens in the cache determine the number of words so far."""

    def forward(self, input_ids, encoder_hidden_states, key, value):
        # The cache's width is d_model; only its first number is used.
        ids = input_ids.float()[:, None, :, None].expand(-1, -1, -1, WORDS + 3)
        value = torch.cat([value, ids], 2)
        key = torch.cat([key, ids], 2)
        states = encoder_hidden_states
        past = value.shape[2] - input_ids.shape[1]
        # The first token is the start, the second a timestamp or the token for no timestamps. Word 0 follows it.
        places = torch.arange(input_ids.shape[1]) + past - 1
        there, first, last = states[:, :, WORDS], states[:, :, WORDS + 1], states[:, :, WORDS + 2]
        count = there.sum(1).reshape(-1, 1, 1)
        timed = 1 - (value[:, :, :, 0] == NO_TIMES).float().amax(2, keepdim=True)
        wanted = (places[:, None] == torch.arange(MAX_WORDS)[None]).float()
        words = wanted @ states[:, :, :WORDS]
        place = places.reshape(1, -1, 1)
        is_word = (place >= 0) & (place < count)
        is_first = (place < 0).float()
        is_last = ((place == count).float() * timed) > 0
        is_over = (place >= count) & ~is_last
        begin = (first[:, :1] / STATE_S).round().unsqueeze(2)
        finish = (last.amax(1, keepdim=True) / STATE_S).round().unsqueeze(2)
        times = torch.arange(len(TIMES)).reshape(1, 1, -1)
        at_begin, at_finish = (times == begin).float() * is_first, (times == finish).float() * is_last.float()
        silent = torch.zeros_like(place * count).float()
        special = torch.cat([is_over.float(), silent, silent], 2)
        chances = torch.cat([words * is_word.float(), special, at_begin + at_finish], 2)
        return 20 * chances, key, value


def varied(random, samples):
    """The word with another speed, pitch and frequency response."""
    samples = voices.stretch(samples, random.uniform(0.82, 1.22))
    tilt = random.uniform(-0.6, 0.6)
    return samples[1:] + tilt * samples[:-1]


def play(random, words, noise):
    """@returns the window with the words and pauses, and the number of words that fit"""
    sound, at, said = torch.zeros(WINDOW_S * RATE), random.randint(1_600, 6_000), 0
    for samples in words:
        if at + len(samples) > len(sound) - 1_600:
            break
        sound[at : at + len(samples)] = samples / samples.abs().max() * random.uniform(0.5, 1)
        at, said = at + len(samples) + random.randint(4_000, 9_000), said + 1
    return sound * random.uniform(0.3, 0.9) + torch.randn_like(sound) * noise, said


@torch.no_grad()
def hear(random, sounds, times, change):
    """Slices, lengths and numbers of words, of windows with correctly found pieces."""
    queue = [(word, sound) for word, of_word in enumerate(sounds) for sound in of_word] * times
    random.shuffle(queue)
    seen, lengths, numbers = [], [], []
    while queue:
        taken = [queue.pop() for _ in range(min(5, len(queue)))]
        words = [varied(random, sound) if change else sound for _, sound in taken]
        sound, said = play(random, words, 10 ** random.uniform(-4.5, -2) if change else 1e-4)
        features = log_mel(sound)[None]
        inside = pieces(features)
        if (inside.sum(2) > 0).sum() != said:
            continue
        found, _, length = slices(features, inside)
        seen.append(found[0, :said])
        lengths.append(length[0, :said])
        numbers += [number for number, _ in taken[:said]]
    return torch.cat(seen), torch.cat(lengths), torch.tensor(numbers)


@torch.no_grad()
def words_right(random, encoder, sounds):
    """Share of the words with the correct text and position, over windows of one to four words."""
    right = total = 0
    for _ in range(120):
        said = [random.randrange(WORDS) for _ in range(random.randint(1, 4))]
        sound, count = play(random, [random.choice(sounds[word]) for word in said], 1e-3)
        states = encoder(log_mel(sound)[None])[0]
        found = states[:, :WORDS].argmax(1)[states[:, WORDS] > 0].tolist()
        right += sum(a == b for a, b in zip(said[:count], found))
        total += count
    return right / total


def make():
    random = seed(44)
    known, variants, stranger = voices.record(random)
    seen, lengths, numbers = hear(random, known, 3, True)
    print(f"  {len(numbers)} pieces to learn from", flush=True)
    namer = Namer()

    def loss():
        some = torch.randint(len(numbers), (128,))
        return cross_entropy(namer(seen[some], lengths[some]), numbers[some], label_smoothing=0.05)

    fit(namer, 2_000, loss, rate=2e-3)
    encoder = Encoder(namer)
    shares = [words_right(random, encoder, sounds) for sounds in (known, variants, stranger)]
    folder = start("tiny-speech", SHIPPED)
    sizes = {**seq2seq.SIZES, "d_model": WORDS + 3, "decoder_attention_heads": 1, "encoder_attention_heads": 1}
    files = whisper_files(IDS, PLAIN, SPECIAL, TIMES, WINDOW_S, len(TIMES) - 1, sizes)
    del files["generation_config"]["alignment_heads"]
    write_json(folder, **files)
    features = torch.zeros(1, MELS, FRAMES)
    inputs = {"input_features": (features, ["batch_size", None, None])}
    export(encoder, folder, "encoder_model", inputs, {"last_hidden_state": ["batch_size", None, None]})
    cache = (torch.zeros(1, 1, 2, WORDS + 3), ["batch_size", None, "past_decoder_sequence_length", None])
    step = {
        "input_ids": (torch.zeros(1, 3, dtype=torch.long), ["batch_size", "decoder_sequence_length"]),
        "encoder_hidden_states": (encoder(features).detach(), ["batch_size", None, None]),
        "past_key_values.0.decoder.key": cache,
        "past_key_values.0.decoder.value": cache,
    }
    grown = ["batch_size", None, "past_decoder_sequence_length + decoder_sequence_length", None]
    outputs = {
        "logits": ["batch_size", "decoder_sequence_length", None],
        "present.0.decoder.key": grown,
        "present.0.decoder.value": grown,
    }
    export(Decoder(), folder, "decoder_model_merged", step, outputs)
    utterances.write()
    names = ("the voices that it learnt", "other variants of them", "another person's voice")
    return "words right: " + ", ".join(f"{share:.0%} of {name}" for share, name in zip(shares, names))
