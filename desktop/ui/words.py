"""Numbers as the person reads them: with units, in short forms (LOOK.md "Words")."""

from PySide6.QtCore import QDateTime, QLocale, QTime


def seconds(milliseconds: int) -> str:
    """`12 s`, `3 min 4 s`, `1 h 2 min`."""
    total = max(0, milliseconds) // 1000
    if total < 60:
        return f"{total} s"
    minutes, rest = divmod(total, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


def tokens(count: int) -> str:
    """`18,200` in the person's locale."""
    return QLocale().toString(count)


def dollars(amount: float | None) -> str:
    """`$0.12`; a small sum keeps two digits that count; None is an unknown price."""
    if amount is None:
        return "$ ?"
    if 0 < amount < 0.005:
        return "< $0.01"
    return f"${amount:,.2f}"


def exact_dollars(amount: float) -> str:
    """`$0.50`, `$0.0125`: a price with all its digits, down to a hundredth of a cent."""
    short = f"{amount:,.4f}".rstrip("0")
    whole, _, cents = short.partition(".")
    return f"${whole}.{cents.ljust(2, '0')}"


def size(count: int) -> str:
    """`1.4 MB`."""
    return QLocale().formattedDataSize(count, 1, QLocale.DataSizeFormat.DataSizeTraditionalFormat)


def day_and_time(moment: int, now: int) -> str:
    """`today 14:02`, `yesterday 9:15`, else date and time in the person's locale; ms UTC."""
    then, today = (QDateTime.fromMSecsSinceEpoch(one) for one in (moment, now))
    locale = QLocale()
    clock = locale.toString(QTime(then.time()), QLocale.FormatType.ShortFormat)
    match then.daysTo(today):
        case 0:
            return f"today {clock}"
        case 1:
            return f"yesterday {clock}"
        case _:
            return locale.toString(then, QLocale.FormatType.ShortFormat)
