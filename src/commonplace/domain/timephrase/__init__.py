"""Time phrases of five languages: "어제", "3 days ago", "先週の月曜日", "从昨天到今天", "2024-01-01".

A phrase is always a range, as wide as it is precise:
- a named day, week (Monday to Sunday), month or year is the whole of it; a part of a day is some hours of it;
- "N units ago" and "in N units" are one unit wide around that moment: three hours ago is half an hour to either side,
  a minute half a minute, a second a second; a day is the calendar day, a week three days, a month fifteen days and a
  year six months to either side; "two or three units ago" goes from the farther window to the nearer;
- "작년 오늘" and "a year ago today" are that one day, "this time last year" fifteen days to either side of it;
- "now" and "just now" are the last ten minutes, "a while ago" the last hour, "recently" the last seven days,
  "a few days ago" two to seven days back;
- a weekday, month or date without more is the latest past one: a weekday never today, a month or date perhaps the
  present one; figures alone are a date only where `short_dates` says so;
- "since" ends now, "until" and "before" begin in the year 1.

The time zone of the clock decides where days begin and end. Compare ranges in UTC: when the clocks go back, the wall
clock of an end can be earlier than that of its start.
"""

from commonplace.domain.timephrase.detection import LANGUAGES, detect
from commonplace.domain.timephrase.phrase import TimePhrase

__all__ = ["LANGUAGES", "TimePhrase", "detect"]
