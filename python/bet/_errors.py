"""The exceptions of bet, by what a caller can do about them."""


class Error(Exception):
    """Any error of bet; its text says what is wrong, where and with which value."""


class BadInput(Error, ValueError):
    """A file, an option or an argument that cannot be used."""


class UnknownOption(BadInput, TypeError):
    """An option that :func:`bet.fit` does not have."""


class NotFound(Error, KeyError):
    """An unknown user, item or file."""

    __str__ = Exception.__str__  # KeyError would put the text in quotes


class BudgetError(Error, ValueError):
    """A memory budget that cannot be met."""


class Interrupted(Error, KeyboardInterrupt):
    """Ctrl-C, before there was anything to finish with; the run can be resumed."""


class InternalError(Error, RuntimeError):
    """A defect of bet, or a machine without memory."""
