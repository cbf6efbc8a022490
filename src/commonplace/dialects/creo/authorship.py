"""Who wrote something in truth, beside whatever it says of itself."""

from typing_extensions import TypedDict

from commonplace.domain.memory import Author


class Recorder(TypedDict):
    """The user, and the name of the key that was used."""

    userId: str
    credential: str


def recorder(author: Author) -> Recorder:
    return {"userId": f"users:{author.user}", "credential": author.credential}
