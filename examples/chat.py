"""
A chat in the terminal. The coordinator stores the conversation: pass its id to continue later.

    python examples/chat.py [--model tiny-chat] [conv_…]
"""

from __future__ import annotations

import argparse
import sys

from atoll_client import Atoll, AtollError


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="tiny-chat")
    parser.add_argument("conversation", nargs="?", help="id of an earlier conversation")
    args = parser.parse_args()
    with Atoll() as atoll:
        conversation = args.conversation
        if conversation is None:
            conversation = atoll.conversations.create(model=args.model, title="Terminal")["id"]
        for message in atoll.conversations.messages(conversation):
            print(f"{message['role']}: {message['content']}")
        print(f"Conversation {conversation}. An empty line ends it.")
        while question := read_question():
            answer(atoll, conversation, question)


def answer(atoll: Atoll, conversation: str, question: str) -> None:
    """Prints the answer as it arrives. Prints errors, so that the chat can continue."""
    try:
        for event in atoll.conversations.stream(conversation, content=question, temperature=0):
            if event["type"] == "token":
                print(event["content"], end="", flush=True)
            elif event["type"] == "error":
                print(f"[{event['code']}: {event['error']}]", end="")
        print()
    except AtollError as error:
        print(f"[{error.code}: {error}]")


def read_question() -> str:
    print("> ", end="", flush=True)
    return sys.stdin.readline().strip()


if __name__ == "__main__":
    try:
        main()
    except AtollError as error:
        raise SystemExit(f"{error.code}: {error}") from None
