"""Instructions in a text that is to be knowledge: words that speak to whoever reads it, be it a model or a browser.

Patterns are held against what the text looks like (look-alike letters, escapes and spread letters undone), so that
spelling does not get around them. They refuse what addresses the reader as a program, not what tells people what to do:
"ignore the old price list" is knowledge, "ignore your instructions" is not.
"""

# ruff: noqa: RUF001 - a table of look-alikes is made of them

import html
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

LONGEST_BLOCK: Final = 200
"""Characters in a row without a space from which on a block of letters and digits is taken for an encoded one."""


def injections(text: str) -> Iterator[str]:
    """Yield what in the text is hidden, or speaks to the reader, in the order in which it is looked for."""
    yield from _hidden(text)
    views = _views(text)
    for what, pattern in _PATTERNS.items():
        if any(pattern.search(view) for view in views):
            yield what
    if any(_SQUEEZED.search(re.sub(r"[\W_]", "", spread[0])) for view in views for spread in _SPREAD.finditer(view)):
        yield "instructions to the reader in spread letters"
    if re.search(rf"[A-Za-z0-9+/=_-]{{{LONGEST_BLOCK},}}", text):
        yield "an encoded block that nobody can read"


# --- what nobody sees ---------------------------------------------------------------------------------------------

_BLANKS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_JOINERS: Final = "\u200c\u200d"
_SELECTORS: Final = "\ufe0e\ufe0f"


def _hidden(text: str) -> Iterator[str]:
    """Yield the first character that shows nothing, of those that no script and no emoji needs."""
    for index, character in enumerate(text):
        if character >= "\x7f" or character < " ":
            around = (text[index - 1] if index else "", text[index + 1 : index + 2])
            if _hides(character, *around):
                yield f"the hidden character U+{ord(character):04X} at position {index + 1}"
                return


def _hides(character: str, before: str, after: str) -> bool:
    if character in "\t\n\r" or character in _SELECTORS:
        return character in _SELECTORS and (not before or before.isspace() or before in _SELECTORS)
    if character in _JOINERS:  # Persian, Hindi and families of emoji are joined by them
        return not (before and after) or before.isascii() or after.isascii()
    selector = "\ufe00" <= character <= "\ufe0d" or "\U000e0100" <= character <= "\U000e01ef"
    return selector or character in _BLANKS or unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co"}


# --- what it looks like -------------------------------------------------------------------------------------------

_LOOK_ALIKES: Final = str.maketrans({
    **dict(zip("АаВвЕеЅѕІіЈјКкМмНнОоРрСсТтУуХхԁһԛԝ", "AaBBEeSsIiJjKkMmHhOoPpCcTtYyXxdhqw", strict=True)),
    **dict(zip("ΑαΒΕεΖΗΙιΚκΜΝνΟοΡρΤτΥυΧχ", "AaBEeZHIiKkMNvOoPpTtYuXx", strict=True)),
    **dict(zip("ᴀᴅᴇɪʟᴍɴᴏʀꜱᴛᴜᴄᴘɑɡıߊ", "adeilmnorstucpagil", strict=True)),
    **dict(zip("‹\u3008⟨❬❮›\u3009⟩❭❯", "<<<<<>>>>>", strict=True)),
    "≪": "<<", "≫": ">>", "⋘": "<<<", "⋙": ">>>", "’": "'", "ʼ": "'",
})  # fmt: skip
"""Letters and brackets of other scripts that people and models take for ASCII; what NFKD undoes is not among them."""

_LEET: Final = str.maketrans("013457@$", "oieastas")
_MIXED: Final = re.compile(r"\b(?=\w*[a-z])\w*[013457@$][\w@$]*")
_PERCENT: Final = re.compile(r"(?:%[2-7][0-9a-f]){4,}", re.IGNORECASE)


def _views(text: str) -> tuple[str, str]:
    """Return the text as it looks, in lower case, and once more with digits in words read as the letters they ape."""
    unescaped = _PERCENT.sub(lambda found: bytes.fromhex(found[0].replace("%", "")).decode(), html.unescape(text))
    split = unicodedata.normalize("NFKD", unescaped)
    marked = "".join(each for each in split if unicodedata.category(each) not in {"Mn", "Me", "Cf"})
    look = re.sub(r"[^\S\n]+", " ", marked.translate(_LOOK_ALIKES)).lower()
    return look, _MIXED.sub(lambda found: found[0].translate(_LEET), look)


# --- what it says -----------------------------------------------------------------------------------------------

# Every repetition that could overlap another is bounded: a hostile text must not make a pattern slow.
_WORDS: Final = {
    "gap": r"(?:[\w',-]{1,30}[ \n]{1,3}){0,4}",
    "ws": r"[\s*_`\"']{1,6}",
    "override": (
        r"(?:ignor(?:e|ing)|disregard|forget|overrid(?:e|ing)|bypass|discard|stop following|(?:do not|don't) follow)"
    ),
    "earlier": r"(?:previous|prior|above|earlier|preceding|foregoing|all|any|your|system|initial|original)",
    "orders": r"(?:instructions?|prompts?|directives?|guardrails?|programming|system messages?|training)",
    "model": (
        r"(?:ais?|a\.i\.|language models?|llms?|chatbots?|ai assistants?|assistant model|chatgpt|gpt-?\d?|claude|gemini"
        r"|copilot)"
    ),
    "leak": (
        r"(?:reveal|print|show|repeat|output|leak|disclose|display|expose|send|e-?mail|post|tell me|give me|write out)"
    ),
    "secret": (
        r"(?:(?:system|hidden|initial) prompts?|(?:system|developer) messages?"
        r"|your (?:instructions|prompt|configuration|api keys?|credentials))"
    ),
    "role": (
        r"(?:system|user|human|assistant|developer|instructions?|tools?|functions?|invoke|parameters?|think|thinking"
        r"|inst|sys|im_start|im_end)"
    ),
    "active": (
        r"(?:script|iframe|frame|object|embed|applet|style|link|meta|svg|math|form|input|button|textarea|select|base"
        r"|img|image|video|audio|source|template|noscript|html|head|body|portal|marquee)"
    ),
    "play": r"(?:pretend|act|behave|roleplay) (?:as|like|to be|that you are|as if you were)",
    "message": r"(?:note|notice|message|attention|instruction|reminder|warning)s?",
    "thing": r"(?:page|document|note|text|lesson|file|question|context|user)",
    "people": r"(?:user|human|operator|reviewer|moderator|owner)s?",
}
"""What the patterns below are made of: `{name}` in one of them stands for it."""

_SAYS: Final[Mapping[str, Sequence[str]]] = {
    "instructions to the reader": (
        r"\b{override}\b{ws}{gap}{earlier}{ws}(?:\w+{ws}){0,3}{orders}",
        r"\b{override}\b{ws}{gap}(?:your|system){ws}(?:\w+{ws}){0,2}(?:rules|guidelines|polic(?:y|ies)|restrictions)",
        r"\b{override}\b{ws}(?:everything|all(?: of)? that|anything){ws}(?:above|before|you were (?:told|given))",
        r"\bignorier\w*\s+(?:\w+\s+){0,3}(?:anweisung|instruktion|vorgabe|prompt)",
        r"\bvergi(?:ss|sst)\s+(?:\w+\s+){0,3}(?:anweisung|instruktion)",
        r"\b(?:ignore[zrs]?|oublie[zrs]?)\s+(?:\w+\s+){0,3}(?:instruction|consigne)s?\s+(?:pre|ant|sys|ci)",
        r"\b(?:ignora|ignore|olvida|olvide)\s+(?:\w+\s+){0,3}(?:instrucciones|indicaciones|istruzioni)",
        r"\bdimentica\s+(?:\w+\s+){0,3}istruzioni",
    ),
    "new instructions for the reader": (
        r"\b(?:new|updated|real|hidden|secret){ws}(?:system )?{orders}{ws}?(?:for (?:the )?{model}|follow|below)",
        r"\bfrom now on,?{ws}(?:you|always answer|answer only|respond)",
        r"\byou (?:are|(?:will|must|should) act) (?:now )?(?:as )?(?:an? |the )?(?:\w+ ){0,3}{model}\b",
        r"\byou are now (?:an? |in |the |dan\b|free)",
        r"\b{play} (?:an? )?(?:\w+ ){0,3}{model}\b",
        r"\b{play} (?:an? )?(?:unrestricted|jailbroken|dan\b)",
        r"\b(?:developer|god|dan|jailbreak|unrestricted) mode (?:is )?(?:on|enabled|activated)",
    ),
    "words addressed to a model": (
        r"\b{message} (?:to|for) (?:the |any |all |every )?{model}\b",
        r"\b(?:dear|hey|hello|attention),? {model}\b",
        r"\b{model} (?:that |who |which )?(?:read|process|summari[sz])(?:s|es|ing)? (?:this|the) {thing}",
        r"\bas an? {model},? you\b",
        r"\bwhen(?:ever)? you (?:answer|summari[sz]e|read|process|retrieve|cite)\b[^.\n]{0,40}\b(?:this|the) {thing}",
        r"\bdo not (?:tell|inform|alert|notify) (?:the )?{people} (?:about |of |that )?(?:this|these|you|anything)",
        r"\bwithout (?:telling|informing|asking|alerting|notifying) (?:the )?{people}",
    ),
    "a request for what is secret": (
        r"(?<!never )(?<!not )(?<!n't )\b{leak}\b{ws}(?:[\w-]{1,30}{ws}){0,4}{secret}\b",
        r"\bwhat (?:is|are|were) your (?:system prompt|initial prompt|instructions)\b",
    ),
    "a request to act on the brain": (
        r"\b(?:call|invoke|execute|run|use)\b[\s`\"']{1,6}(?:the )?[`\"']?governance[_.]apply\b",
        r"\bfalsify (?:approvals approve|brain governance apply|brain erase)",
        r"\bapprove (?:this|these|all|every|any)(?: \w+)? (?:proposal|page|lesson)s? (?:automatic|without|now)",
    ),
    "the markup of a chat or a tool call": (
        r"<\s*\|[^<>|\n]{1,64}\|\s*>",
        r"<\s*/?\s*(?:[\w.-]{1,32}:)?{role}(?:[_-]\w{1,30}){0,3}(?:\s[^<>]{0,200})?/?\s*>",
        r"\[\s*/?\s*(?:inst|sys|available_tools|tool_calls|tool_results)\s*\]|<<\s*/?sys\s*>>",
        r"(?:^|\n)[#>* \t]{0,12}(?:system|assistant|developer) (?:prompt|message|instructions?)[* \t]{0,6}:",
        r"(?:^|\n)[#>* \t]{0,12}(?:system|assistant)[* \t]{0,6}:[*\s]{0,6}(?:you\b|ignore|from now|new instruction)",
    ),
    "a forged fence": (
        r"(?:<[\s\\]*){3}",
        r"(?:end[\W_]{1,8})?untrusted[\W_]{1,8}data[^\n]{0,80}(?:>\s*){2}",
        r"end[\W_]{1,8}untrusted[\W_]{0,8}data",
    ),
    "HTML that does or hides something": (
        r"<\s*/?\s*{active}(?:\s[^<>\n]{0,500})?/?>|<\s*{active}[\s/]",
        r"<!--|<!\[cdata|<\?(?:php|xml)",
        r"<[a-z][^<>]*\s(?:on[a-z]{3,20}|style|srcdoc|formaction)\s*=",
    ),
    "a URL that runs or carries something": (
        r"\b(?:java|vb|live)script\s*:|\bdata:\s*[a-z]{1,30}/[a-z0-9.+-]{1,60}\s*[;,]|\]\(\s*<?\s*data:",
        r"!\[[^\]\n]{0,300}\]\(\s*<?\s*(?:https?:)?//",
    ),
}
"""What a text is refused for, and the patterns in lower case that say so."""


def _compiled(patterns: Sequence[str]) -> re.Pattern[str]:
    named = re.compile(r"\{([a-z]+)\}")
    return re.compile("|".join(named.sub(lambda found: _WORDS[found[1]], pattern) for pattern in patterns))


_PATTERNS: Final = {what: _compiled(patterns) for what, patterns in _SAYS.items()}

_SPREAD: Final = re.compile(r"(?<![^\W_])(?:[^\W_][ .\-_*|/]{1,3}){7,}[^\W_](?![^\W_])")
_SQUEEZED: Final = re.compile(
    r"(?:ignore|disregard|forget|bypass|override)(?:all|any|the|your|my|of){0,3}(?:previous|prior|above|earlier|system|your)?"
    r"(?:instructions?|prompts?|rules|directives?)|systemprompt|jailbreak"
)
