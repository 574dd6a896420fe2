from anyio import sleep

__all__ = ["sleep"]
