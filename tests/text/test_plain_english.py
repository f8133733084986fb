"""Nothing that a person reads has the habits of a translated sentence: each has a plainer form, given beside it."""

import re

import pytest
from prose import Piece, of_javascript, pieces, without_code

AREAS = ("package", "player", "readme", "book", "course", "notebooks", "tests", "benchmarks")

_SOURCE = (
    r"(?:(?:the|an|each|its|one|all|both|every|of|those|these) )*"
    r"(?:(?!a\b)[A-Za-z]\d?\b(?!-)|(?:them|(?:source|argument|input|weight|variable|parameter|element)s?)\b)"
)
HABITS = {
    rf"\b(?:gradient|derivative|slope|jacobian|hessian|differentiate)[sd]?\b(?: (?:of )?(?:the )?\w+)? by {_SOURCE}": (
        "the gradient of y with respect to x"
    ),
    r"(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more than\b|less than\b|better\b|other\b|different\b)\w+": (
        "is not a"
    ),
    r"\b(?:which|what) (?:shapes?|values?|numbers?|ranks?|dtypes?|signs?|sizes?) (?:has|have)\b": "what shape is",
    r"\bwho(?:so)?ever\b": "if you, anyone who",
    r"\bbe it\b": "whether it is",
    r"\b(?:is|are|was|were) to be (?:had|seen)\b": "you can have, you can see",
    r"\bas well\b(?=[^.;:?!]{0,80}\bas\b)": "and, both … and",
    r"\b(?:by|on) which way\b|\bon (?:two|both|several|many|all) ways\b": "how, along two paths",
    r"\ba further\b": "another",
    r"\b(?:and|or) the like\b|\band (?:its|their) like\b": "and so on, similar ones",
    r"\bforet[eo]l[dl]s?\b": "predict",
    r"\b(?:hangs?|hung) together\b": "belong together, are related",
    r"\b(?:lacks|lacked|lacking)\b|\b(?:that|which|does|do|they|it|you|we|to|return) lack\b": "is missing",
    r"\bhow manyth\b|\bwhat comes next to\b|\bwhat shape it has\b": "its position, the next value, its shape",
    r"\blet us\b": "let's, or the imperative",
    r"\blet(?:s|ting)? go of\b|\bhas let go\b": "release",
    r"\bmakes? plain numbers\b": "returns plain numbers",
    r"\bas \w+ has it\b": "as in TensorFlow",
    r"\bto an end\b": "finish, end",
    r"\blest\b|\bshall\b": "so that … not, should",
    r"\bfor want of\b|\bon the word of\b|\bby way of\b": "without, because … says so, through",
    r"\b(?:records|exists) already\b|\bwas used already\b": "is already recording, has already been used",
}
"""What is never written, and what is written instead; letters may be of either case."""

OPENINGS = re.compile(r"(?:Gives?|Tells?|Says?|Lets?|Hears?)\b")
"""What no docstring begins with: Return, Compute, Raise, Draw and Check name an effect."""

EXCEPTIONS: dict[tuple[str, str], str] = {}
"""By where a text comes from, and the words: why they are right there."""


def habits(piece):
    """List what a piece has of the habits, each with its place and the plainer form."""
    text = re.sub(r"^\s*(?:>>>|\.\.\.) .*$", "", piece.text, flags=re.MULTILINE)
    text = re.sub(r"\s+", " ", without_code(text, short=True))
    found = [(match.group(), plain) for habit, plain in HABITS.items() for match in re.finditer(habit, text, re.I)]
    if piece.kind == "docstring" and (opening := OPENINGS.match(text)):
        found.append((opening.group(), "Return, Compute, Raise, Draw, Write, Record, Check"))
    return [
        f"{piece.where}: “{words}”: {plain}"
        for words, plain in found
        if (piece.where.split(":")[0], words) not in EXCEPTIONS
    ]


@pytest.mark.parametrize("area", AREAS)
def test_every_sentence_is_plain_english(area):
    found = [piece for piece in pieces() if piece.area == area]
    assert found
    assert [line for piece in found for line in habits(piece)] == []


@pytest.mark.parametrize(
    "sentence",
    [
        "The gradient of z by x is None",
        "Differentiate the loss by each weight",
        "the derivatives by all of\n    the arguments",
        '"abc" is no number',
        "Which shape has the cotangent that arrives at y?",
        "What shapes have the two gradients?",
        "Whoever has the gradient has the slope",
        "any order of derivative is to be had",
        "Read by people as well\nas by machines",
        "A change of x reaches y on two ways at once",
        "The path has a further cut",
        "np.round, np.floor and the like",
        "Foretell the shape",
        "Does a `return` lack?",
        "Let us not believe it but measure",
        "has let go of its arrays",
        "this one-shot tape was used already",
        "Add the epsilon, lest it be 0",
    ],
)
def test_a_planted_habit_is_found(sentence):
    assert habits(Piece("package", "comment", "here.py:3", sentence))


@pytest.mark.parametrize("opening", ["Give the name", "Tell what was computed", "Say why", "Let the tape go on"])
def test_an_opening_without_an_effect_is_found_in_docstrings_alone(opening):
    assert habits(Piece("package", "docstring", "here.py f", opening))
    assert not habits(Piece("package", "comment", "here.py:3", opening))


@pytest.mark.parametrize(
    "sentence",
    [
        "Divide by x, and compare with the gradient by hand",
        "There is no rule for it, so it is no longer recorded",
        "`None` is the lack of an answer",
        "The gradient, computed by the tape, with respect to `x`",
        "Write `be it` in code, or\n>>> print('is no number')\n",
    ],
)
def test_plain_sentences_and_code_pass(sentence):
    assert habits(Piece("package", "docstring", "here.py f", sentence)) == []


def test_the_comments_and_strings_of_a_script_are_read_and_its_code_and_types_are_not():
    script = """/**
 * Draws a tree.
 * @param {Tree} tree the trunk
 */
const quote = /["`]/.test(text) ? 'a' : "an // element"; // a comment
"""
    found = [(piece.kind, piece.where, piece.text.split()) for piece in of_javascript("player", "here.js", script)]
    assert found == [
        ("docstring", "here.js:1", ["Draws", "a", "tree.", "the", "trunk"]),
        ("string", "here.js:5", ['"an', "//", 'element"']),
        ("comment", "here.js:5", ["//", "a", "comment"]),
    ]


def test_every_exception_is_still_needed():
    everything = list(pieces())
    for (where, words), reason in EXCEPTIONS.items():
        assert reason
        assert any(piece.where.split(":")[0] == where and words in piece.text for piece in everything), words
