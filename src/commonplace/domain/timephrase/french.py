"""French: hier, la semaine dernière, il y a trois jours, lundi dernier, 1er janvier 2024, de lundi à vendredi.

Accents are optional, as people type: everything here is written without, and compared without.
"""

from commonplace.domain.timephrase import terms
from commonplace.domain.timephrase.grammar import (
    A_WHILE_AGO,
    AFTERNOON,
    DAYS_AGO,
    EVENING,
    HALF_HOUR_AGO,
    JUST_NOW,
    MORNING,
    NIGHT,
    NOON,
    NOW,
    RECENTLY,
    Bound,
    Join,
    Language,
    Lexicon,
    Needs,
    Rule,
    ago,
    ago_about,
    ahead,
    away,
    calendar,
    clock,
    day,
    last_units,
    month,
    needing,
    next_few,
    next_units,
    on,
    past_few,
    same_day,
    same_season,
    stretch,
    week,
    weekday,
    weekend,
    words,
    year,
)
from commonplace.domain.timephrase.halves import and_a_half_ago
from commonplace.domain.timephrase.numbers import french
from commonplace.domain.timephrase.phrase import Unit
from commonplace.domain.timephrase.short_dates import ONE_OR_TWO

PHRASES = {
    "aujourd'hui": day(0),
    "hier": day(-1),
    "la veille": day(-1),
    "l'avant-veille": day(-2),
    "hier et aujourd'hui": stretch(-1, 0),
    "aujourd'hui et demain": stretch(0, 1),
    "avant-hier|avant hier": day(-2),
    "demain": day(1),
    "apres-demain|apres demain": day(2),
    "maintenant|en ce moment": NOW,
    "a l'instant|il y a un instant|juste maintenant": JUST_NOW,
    "tout a l'heure|il y a un moment|il y a peu": A_WHILE_AGO,
    "recemment|dernierement|ces derniers temps|ces derniers jours|ces jours-ci": RECENTLY,
    "l'autre jour": DAYS_AGO,
    "il y a une demi-heure|il y a une demi heure": HALF_HOUR_AGO,
    # Counted with the days at both ends: a week, and two.
    "il y a huit jours": away(Unit.WEEK, -1),
    "il y a une quinzaine|il y a une quinzaine de jours|il y a quinze jours": away(Unit.WEEK, -2),
    "ce matin": on(0, MORNING),
    "ce midi": on(0, NOON),
    "cet apres-midi|cet apres midi": on(0, AFTERNOON),
    "ce soir": on(0, EVENING),
    "cette nuit|la nuit derniere": on(-1, NIGHT),
    "semaine derniere|semaine passee": week(-1),
    "cette semaine": week(0),
    "semaine prochaine": week(1),
    "week-end dernier|weekend dernier|week-end passe|weekend passe": weekend(-1),
    "ce week-end|ce weekend": weekend(0),
    "week-end prochain|weekend prochain": weekend(1),
    "mois dernier|mois passe": month(-1),
    "ce mois|ce mois-ci": month(0),
    "mois prochain": month(1),
    "annee derniere|annee passee|an dernier|an passe": year(-1),
    "cette annee": year(0),
    "annee prochaine|an prochain": year(1),
    "matin|matinee|au matin": MORNING,
    "midi|a midi": NOON,
    "apres-midi|apres midi": AFTERNOON,
    "soir|soiree|au soir": EVENING,
    "nuit": NIGHT,
}
# "La semaine dernière" is the phrase, its article included.
ARTICLES = {"semaine": "la ", "week-end": "le ", "weekend": "le ", "mois": "le ", "annee": "l'", "an": "l'"}
PHRASES |= {
    "|".join(f"{ARTICLES[name.split()[0]]}{name}" for name in names.split("|")): reading
    for names, reading in PHRASES.items()
    if names.split()[0] in ARTICLES
}

# "La veille" is also a watch that is kept (la veille technologique) and an eve (la veille de Noël).
_EVE = ("(?<!faire )(?<!fait )(?<!fais )(?<!faire de )(?<!fait de )", r"(?= au soir| a [0-9]| *[?!.,;]| *$)")
GUARDS = {"la veille": _EVE, "l'avant-veille": ("", _EVE[1])}

COUNTS = {"une dizaine de": 10, "une quinzaine de": 15, "une vingtaine de": 20, "une trentaine de": 30}
UNITS = {
    "seconde": Unit.SECOND, "minute": Unit.MINUTE, "heure": Unit.HOUR, "jour": Unit.DAY, "semaine": Unit.WEEK, "an": Unit.YEAR,
    "annee": Unit.YEAR,
}  # fmt: skip
WEEKDAYS = {
    name: number
    for number, name in enumerate(("lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"))
}
MONTHS = (
    "janvier", "fevrier", "mars", "avril", "mai", "juin", "juillet", "aout", "septembre", "octobre", "novembre", "decembre",
)  # fmt: skip
MONTH = {name: number for number, name in enumerate(MONTHS, start=1)}
LEXICONS = {
    "n": french(COUNTS),
    "unit": words({f"{name}{s}": unit for name, unit in UNITS.items() for s in ("", "s")} | {"mois": Unit.MONTH}),
    "weekday": words(WEEKDAYS),
    "turn_after": words({"dernier": -1, "passe": -1, "prochain": 1}),
    "this": words({"ce": 0}),
    "week_turn": words({"derniere": -1, "passee": -1, "prochaine": 1}),
    # A planet and half of "mais": these two are months only in company.
    "plain_month": words({name: number for name, number in MONTH.items() if name not in ("mars", "mai")}),
    "month": words(MONTH),
    "short_month": words(
        MONTH | {"janv": 1, "fevr": 2, "avr": 4, "juil": 7, "sept": 9, "oct": 10, "nov": 11, "dec": 12}
    ),
    "year": Lexicon("(?:19|20)[0-9]{2}"),
    "year_turn": words({"derniere": -1, "passee": -1, "prochaine": 1}),
    "last_year": words(dict.fromkeys(("l'an dernier", "l'an passe", "l'annee derniere", "l'annee passee"), -1)),
    "an_turn": words({"dernier": -1, "passe": -1, "prochain": 1}),
    "day": ONE_OR_TWO,
    "premier": words({"premier": 1}, digits="[0-9]{1,2}"),
    "hour": ONE_OR_TWO,
    "minute": Lexicon("[0-9]{2}"),
}

IN_MONTH = "(?:(?<=en )|(?<=debut )|(?<=fin )|(?<=mi-)|(?<=mois de )|(?<=courant ))"
RULES = (
    Rule("il y a (?:environ )?<n> <unit>", ago),
    Rule("il y a (?:environ )?<n> <unit> et demie?", and_a_half_ago),
    Rule("il y a (?:environ )?<n>(?: ou | a | ?[-~] ?)<m:n> <unit>", ago_about),
    Rule("il y a <n> <unit>,? (?:aujourd'hui|jour pour jour)", same_day),
    Rule("<year_turn:last_year>,? (?:a la meme date|le meme jour)", same_day),
    Rule("<year_turn:last_year>,? a (?:la meme epoque|la meme periode|pareille epoque)", same_season),
    Rule("il y a (?:quelques|plusieurs) <unit>", past_few),
    Rule("(?:dans|d'ici) (?:environ )?<n> <unit>", ahead),
    Rule("<n> <unit> plus tard", ahead),
    Rule("dans quelques <unit>", next_few),
    Rule("(?:l[ae]s|[cd]es) <n> (?:dernier|derniere)s <unit>", last_units),
    Rule("(?:l[ae]s|[cd]es) <n> (?:prochain|prochaine)s <unit>", next_units),
    Rule("<weekday>", weekday),
    Rule("<weekday> <turn_after>", weekday),
    Rule("<turn:this> <weekday>", weekday),
    Rule("<weekday> de la semaine <week:week_turn>", weekday),
    Rule("<month:plain_month>", calendar),
    Rule("<month>", needing(Needs.JOIN, calendar)),
    Rule(f"{IN_MONTH}<month>", calendar),
    Rule("<month> <turn:turn_after>", calendar),
    Rule("<month:short_month>\\.? (?:de )?<year>", calendar),
    Rule("<month> (?:de )?l'annee <year_turn>", calendar),
    Rule("<month> (?:de )?l'an <year_turn:an_turn>", calendar),
    Rule("<day:premier>(?:er)? <month:short_month>\\.?(?: <year>| dernier)?", calendar),
    Rule("(?:(?<=en )|(?<=annee ))<year>", calendar),
    Rule("<year>", needing(Needs.JOIN, calendar)),
    Rule("<day>(?:er)?(?= (?:a|au|et|jusqu'au) )", needing(Needs.DATE, calendar)),
    Rule("<hour> ?h(?:eures?)?(?: ?<minute>)?", clock),
)

JOINS = (
    Join(Bound.BETWEEN, before="entre (?:le |la |l')?", between=" et (?:le |la |l')?"),
    Join(
        Bound.BETWEEN,
        before="(?:de |du |d'|des |depuis )(?:le |la |l')?",
        between=" (?:a|au|jusqu'a|jusqu'au) (?:la |l')?",
    ),
    Join(Bound.BETWEEN, between=" (?:au|jusqu'a|jusqu'au) ", firm=True),
    Join(Bound.SINCE, before="depuis (?:le |la |l')?|a partir (?:de |du |d')(?:la |l')?|des "),
    Join(Bound.AFTER, before="apres (?:le |la |l')?"),
    Join(Bound.UNTIL, before="jusqu'(?:a |au |en |a la |a l')?"),
    Join(Bound.BEFORE, before="avant (?:le |la |l')?"),
)

# Small words that tell French from English where only figures would be left.
SIGNS = r"(?<![a-z'])(?:le|la|les|du|des|au|aux|une|depuis|avant|entre|pour|avec|reunion)(?![a-z])"

FRENCH = Language(
    code="fr",
    script="[a-z]",
    phrases=PHRASES,
    lexicons=LEXICONS | terms.FRENCH_LEXICONS,
    rules=RULES + terms.FRENCH,
    joins=JOINS,
    edges=("(?<![a-z0-9_@])", "(?![a-z0-9_@])"),
    guards=GUARDS,
    link=r",? (?:a |au |vers |dans la |dans l'|le |la )?",
    leading=r"(?:de la|de l['’]|de|du|des|d['’]|le|la|les|l['’]|en|au|aux|à|dans|pour|pendant|lors|durant|fin|début)",
    accents=str.maketrans("àâäçéèêëîïôöùûü", "aaaceeeeiioouuu"),
)
