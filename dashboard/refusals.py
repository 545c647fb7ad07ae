"""What is not done because of how things are now, told to whoever asked in one sentence."""


class Refused(Exception):
    """Raised by actions; the message says what is not done, why, and what to do. Commands print it and end with 1."""
