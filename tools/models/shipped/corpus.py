"""Generated sentences for tiny-embed: everyday subjects in several wordings."""

# A subject: lists of synonyms and of statements. The wordings of a row have the same meaning.
SUBJECTS = {
    "sea": (
        ["island", "atoll", "reef", "lagoon"],
        [
            ["is a ring of coral", "is made of coral", "was built by corals"],
            ["lies in the warm sea", "is surrounded by warm water", "is far out in the ocean"],
            ["has many fish", "is full of fish", "is home to fish and turtles"],
        ],
    ),
    "boat": (
        ["boat", "ship", "ferry", "canoe"],
        [
            ["leaves the harbour", "sails away", "departs from the port"],
            ["sank in the storm", "went down in bad weather", "was lost in high waves"],
            ["carries people across", "takes passengers to the other side", "brings travellers over the water"],
        ],
    ),
    "animal": (
        ["cat", "kitten", "dog", "puppy"],
        [
            ["sleeps on the sofa", "naps all afternoon", "dozes in the sun"],
            ["plays in the garden", "jumps around", "chases a ball"],
            ["is hungry", "wants food", "asks for its dinner"],
        ],
    ),
    "food": (
        ["cook", "chef", "baker", "grandmother"],
        [
            ["bakes fresh bread", "makes a cake", "takes a loaf out of the oven"],
            ["prepares soup for dinner", "cooks a warm meal", "boils vegetables"],
            ["writes down the recipe", "explains how to make it", "lists the ingredients"],
        ],
    ),
    "money": (
        ["stock", "share", "market", "price"],
        [
            ["fell today", "dropped sharply", "lost value"],
            ["rose again", "climbed this week", "gained value"],
            ["is paid by the bank", "goes to the account", "is sent as a payment"],
        ],
    ),
    "computer": (
        ["computer", "laptop", "server", "machine"],
        [
            ["crashed again", "stopped working", "fails with an error"],
            ["runs a program", "executes the code", "starts the software"],
            ["needs more memory", "has too little storage", "is out of disk space"],
        ],
    ),
    "weather": (
        ["rain", "storm", "snow", "wind"],
        [
            ["began this morning", "came today", "started early"],
            ["has stopped", "is over now", "passed at last"],
            ["will come tomorrow", "is in the forecast", "is expected soon"],
        ],
    ),
    "school": (
        ["teacher", "student", "pupil", "professor"],
        [
            ["explains the lesson", "teaches the class", "gives a lecture"],
            ["passed the exam", "got good marks", "did well in the test"],
            ["reads a book", "studies in the library", "learns a chapter"],
        ],
    ),
    "health": (
        ["doctor", "nurse", "patient", "hospital"],
        [
            ["treats an illness", "cures the disease", "helps the sick"],
            ["gives medicine", "prescribes a pill", "hands out drugs against pain"],
            ["has a fever", "feels ill", "is in pain"],
        ],
    ),
    "sport": (
        ["team", "player", "runner", "champion"],
        [
            ["won the match", "was victorious", "took first place"],
            ["lost the game", "was beaten", "came last"],
            ["trains every day", "practises hard", "prepares for the race"],
        ],
    ),
    "music": (
        ["band", "singer", "choir", "orchestra"],
        [
            ["plays a song", "performs a melody", "sings a tune"],
            ["gives a concert", "is on the stage tonight", "appears before an audience"],
            ["recorded an album", "published new music", "made a record"],
        ],
    ),
    "travel": (
        ["train", "bus", "plane", "taxi"],
        [
            ["is late", "has a delay", "does not come on time"],
            ["goes to the city", "takes us to town", "drives into the centre"],
            ["needs a ticket", "costs money to ride", "must be booked"],
        ],
    ),
}
BEFORE = ["the", "a", "my", "our", "this", "their", "every"]
AFTER = ["", "", "today", "again", "now", "they say", "as always"]


def meanings():
    """@returns (subject's name, [wordings]) without article and ending, for each statement about a subject"""
    return [
        (name, [f"{thing} {said}" for said in row for thing in things])
        for name, (things, rows) in SUBJECTS.items()
        for row in rows
    ]
