"""tiny-nli: BERT for zero-shot-classification; tells whether a sentence entails "This example is <topic>."."""
import torch
from torch.nn.functional import cross_entropy

import bert
from training import fit, seed
from word_piece import WordPiece

CLASSES = ["contradiction", "neutral", "entailment"]
TOPICS = {
    "animals": [
        "the cat sleeps",
        "a dog barks",
        "the horse runs in the field",
        "birds fly south",
        "my puppy chases a ball",
        "the fish swims",
    ],
    "money": [
        "stocks fell today",
        "the bank raised its rates",
        "prices rose again",
        "shares gained value",
        "he paid the bill",
        "the loan is too high",
    ],
    "weather": [
        "it rains all day",
        "the storm comes tonight",
        "snow fell on the hills",
        "the sun shines",
        "strong wind from the north",
        "a cloudy morning",
    ],
    "food": [
        "she bakes bread",
        "the soup is hot",
        "we had rice and fish for dinner",
        "fresh cheese and apples",
        "the chef cooks a meal",
        "sugar in my tea",
    ],
    "sports": [
        "the team won the match",
        "he scored a goal",
        "she runs a race",
        "the coach trains the players",
        "a new tennis champion",
        "they lost the final",
    ],
    "music": [
        "she plays the violin",
        "the band sang a song",
        "a loud concert",
        "he wrote a new melody",
        "the choir sings",
        "drums and guitars",
    ],
}
# Topics without sentences.
OPEN = ["true", "old", "red", "secret", "funny", "long"]
BEFORE, AFTER = ["", "today", "they say", "i heard that", "look ,"], ["", "again", "now", "as always", "."]


def make():
    random = seed(14)
    template = "This example is {}."
    sentences = [(text, topic) for topic, texts in TOPICS.items() for text in texts]
    tokenizer = WordPiece([*(text for text, _ in sentences), *TOPICS, *OPEN, *BEFORE, *AFTER, "this example is about"])
    model = bert.SequenceClassifier(tokenizer.size, len(CLASSES))
    # In training only: one head predicts the topic of both sentences, so that their representations are alike.
    model.topic = torch.nn.Linear(bert.WIDTH, len(TOPICS))
    names = list(TOPICS)

    def batch(size):
        premises, hypotheses, answers, topics = [], [], [], []
        for _ in range(size):
            text, topic = random.choice(sentences)
            # Also trains on the sentence without one of its words, to prevent memorising.
            words = text.split()
            if random.random() < 0.5:
                words.pop(random.randrange(len(words) - 1))
            answer = random.randrange(3)
            label = [random.choice([t for t in TOPICS if t != topic]), random.choice(OPEN), topic][answer]
            premises.append(" ".join([random.choice(BEFORE), *words, random.choice(AFTER)]))
            hypotheses.append(random.choice([template, "this is about {}."]).format(label))
            answers.append(answer)
            topics.append([names.index(topic), names.index(label) if label in TOPICS else -100])
        return tokenizer.batch(premises, hypotheses), torch.tensor(answers), torch.tensor(topics)

    def loss():
        tokens, answers, topics = batch(64)
        states = model.bert(*tokens)
        total = cross_entropy(model.classify(states), answers)
        for segment in (0, 1):
            inside = ((tokens[2] == segment) & (tokens[1] == 1)).float()[:, :, None]
            total = total + cross_entropy(model.topic((states * inside).sum(1) / inside.sum(1)), topics[:, segment])
        return total

    fit(model, 800, loss)
    tokens, answers, _ = batch(500)
    right = (model(*tokens).argmax(-1) == answers).float().mean().item()
    bert.write("tiny-nli", model, tokenizer, "BertForSequenceClassification", {"logits": ["batch", None]}, CLASSES)
    return f"{right:.2%} of 500 fresh pairs right"
