"""Words that carry grammar instead of content, by language: folded, French with and without its accents."""

import unicodedata
from collections.abc import Mapping
from types import MappingProxyType

_ENGLISH = """
a about above after again against all also am an and any are aren't as at be because been before being below between
both but by can can't cannot could couldn't did didn't do does doesn't doing don't down during each either else etc
even ever few for from further had hadn't has hasn't have haven't having he he'd he'll he's her here here's hers herself
him himself his how how's however i i'd i'll i'm i've if in into is isn't it it'll it's its itself just let let's may me
might mine more most much must mustn't my myself neither no nor not now of off on once only onto or other others ought
our ours ourselves out over own per quite rather same shall shan't she she'd she'll she's should shouldn't since so some
such than that that's the their theirs them themselves then there there's these they they'd they'll they're they've
this those though through thus till to too toward towards under until up upon us very via was wasn't we we'd we'll we're
we've were weren't what what's when when's where where's whether which while who who's whom whose why why's will with
within without won't would wouldn't yet you you'd you'll you're you've your yours yourself yourselves
"""

_FRENCH = """
a afin ai aie aient aies ainsi ait alors après as au aucun aucune auquel aura aurai auraient aurais aurait auras aurez
auriez aurions aurons auront aussi autre autres aux auxquelles auxquels avaient avais avait avant avec avez aviez avions
avoir avons ayant ayez ayons bien c car ce ceci cela celle celles celui cependant ces cet cette ceux chacun chacune
chaque chez ci comme comment d dans de depuis des desquelles desquels dont donc du duquel dès déjà elle elles en encore
enfin entre es est et eu eue eurent eut eux eûmes fait fais faire faut font fut furent fûmes hors ici il ils j je jusqu
jusque l la laquelle le lequel les lesquelles lesquels leur leurs lorsqu lorsque là lui m ma mais me mes mien mienne
miens moi moins mon même mêmes n ne ni non nos notre nous nôtre on ont or ou où par parce pas pendant peu peut peux plus
plusieurs pour pourquoi pourtant plutôt près puis puisqu puisque qu quand que quel quelle quelles quels quelqu quelque quelques
qui quoi s sa sans se sera serai seraient serais serait seras serez seriez serions serons seront ses si sien sienne siens
sinon soi soient sois soit sommes son sont sous soyez soyons suis sur t ta tandis tant te tel telle telles tels tes toi
ton toujours tous tout toute toutes très trop tu un une vers voici voilà vos votre vous vôtre y à étaient étais était
étant étiez étions été êtes être
"""

_KOREAN = """
그 그것 그게 그냥 그녀 그대로 그들 그래도 그래서 그러나 그러니까 그러면 그런 그런데 그럼 그렇게 그렇지만 그리고 그에
그의 그를 나 나는 나를 나의 내 내가 너 너는 너무 너의 네 네가 누가 누구 누군가 다 다른 다소 다시 당신 대한 대해 대해서
더 더욱 덜 또 또는 또한 를 마치 막 만약 매우 먼저 모두 모든 못 무슨 무엇 뭐 및 바로 벌써 별로 보통 본인 분 뿐 새 새로
서로 수 스스로 아 아니 아마 아주 아직 안 약 약간 어느 어디 어떤 어떻게 어쩌면 언제 언제나 얼마 얼마나 여기 여러 역시 왜
우리 우리는 우리의 원래 위한 위해 위해서 응 의해 이 이것 이게 이런 이렇게 이를 이미 이번 일단 일부 입니다 이다 자 자기
자꾸 자신 자주 잘 저 저것 저는 저를 저의 저희 전혀 절대 점점 정도 정말 제 제가 제일 조금 좀 주로 중 즉 진짜 쯤 참 천천히
통해 통해서 특히 하나 하지만 한 한번 함께 항상 혹시 혹은 훨씬 가장 각 각각 같이 거기 거의 걸 것 것이 게 겨우 결국 계속
관한 관해 대로 덕분 덕분에 동안 든 등 등등 따라 따라서 따로 때 때문 때문에 많이 빨리 씨 예 오직 오히려 왜냐하면 이제
전 후 뒤 앞 위 밖 속 옆 곳 쪽 거 건 데 간 내 외 측 명 개 번 년 월 일 시 초 오랜만 모두들 이거 그거 저거 뭔가 아무 아무것
"""

# Hiragana words that stand where a noun could.
_JAPANESE = """
これ それ あれ どれ ここ そこ あそこ どこ こちら そちら あちら どちら この その あの どの わたし あなた かれ かのじょ
みんな もの こと ため とき ところ ほう よう そう だれ なに なん いつ いま もう まだ とても すごく ちょっと たくさん また
でも しかし そして だから それで つまり なぜ どう すべて ほか うち わけ はず まま うえ
私 僕 俺 彼 彼女 君 我々 自分 何 誰 皆 皆様 他 物 事 時 所 方 人 者 年 月 日 週 分 秒 今 前 後 中 上 下 間 内 外 等 達 様
度 回 個 件 円 点 番 目 毎 全 各 約 場合 以上 以下 以外 以内 非常 全部 全員 一緒 一番 一部 一度 一般 大体 多分 本当 色々
様々 時々 必要 可能 当然 結構 普通 場所 方法 部分 程度 状態 関係 気 手 頃 末 向 大好 見 行 来 思 言 出 入 持 使
"""

_CHINESE = """
我们 你们 他们 她们 它们 我們 你們 他們 自己 大家 咱们 这个 那个 这些 那些 这里 那里 这样 那样 这种 那种 這個 那個 這些
什么 怎么 怎样 怎么样 为什么 哪里 哪个 多少 几个 甚麼 什麼 為什麼 怎麼 如何 如果 因为 所以 但是 可是 不过 然后 而且 虽然
因為 然後 雖然 不過 并且 或者 还是 或是 以及 以后 以前 之后 之前 以後 之後 其中 其他 其实 另外 比如 例如 对于 关于 由于
根据 按照 通过 除了 只有 只要 只是 就是 都是 也是 还有 没有 不是 不会 不能 不要 不用 可以 可能 能够 应该 必须 需要 已经
還有 沒有 可以 能夠 應該 必須 已經 正在 曾经 一直 一定 一样 一些 一个 一下 一点 一起 一次 一種 一个个 非常 特别 比较 十分
有点 有些 有的 有人 很多 许多 许多人 所有 每个 每次 各种 各个 这次 那么 这么 那麼 這麼 这是 那是 起来 出来 下来 上去 过来
时候 的话 之间 方面 情况 东西 事情 地方 觉得 认为 知道 希望 想要 开始 继续 进行 成为 作为 看到 听到 来说 来自 直接 真的 导致 導致 经常 經常 为了 為了
"""

_MONTHS_AND_DAYS: Mapping[str, str] = {
    "en": """
    january february march april june july august september october november december jan feb mar apr jun jul aug sep
    sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun today tomorrow
    yesterday tonight morning afternoon evening night noon midnight day days week weeks month months year years hour
    hours minute minutes second seconds ago last next soon later recently currently am pm daily weekly monthly weekend
    """,
    "fr": """
    janvier février mars avril mai juin juillet août septembre octobre novembre décembre lundi mardi mercredi jeudi
    vendredi samedi dimanche aujourd'hui hier demain après-demain avant-hier matin midi soir soirée matinée nuit
    après-midi jour jours journée semaine semaines mois an ans année années heure heures minute minutes seconde secondes
    week-end prochain prochaine dernier dernière bientôt tard tôt maintenant récemment actuellement
    """,
    "ko": """
    오늘 어제 그제 그저께 내일 모레 글피 지금 방금 아까 이따가 나중 최근 요즘 이번주 지난주 저번주 다음주 금주 차주 이번달
    지난달 다음달 올해 작년 재작년 내년 월요일 화요일 수요일 목요일 금요일 토요일 일요일 주말 평일 아침 점심때 저녁때 오전
    오후 새벽 밤 낮 매일 매주 매달 매년 시간 분 초 하루 이틀 사흘 며칠 일주일 지난 다음 이후 이전 당시 현재 개월 날 주 달 년
    """,
    "ja": """
    今日 昨日 明日 今週末 先週末 来週末 一昨日 明後日 本日 今朝 今夜 今晩 昨夜 今週 先週 来週 再来週 今月 先月 来月 今年 去年 昨年 来年 毎日
    毎朝 毎晩 毎週 毎月 毎年 最近 現在 午前 午後 以前 以後 以降 当時 当日 翌日 前日 月曜日 火曜日 水曜日 木曜日 金曜日
    土曜日 日曜日 月曜 火曜 水曜 木曜 金曜 土曜 日曜 週末 平日 時間 分間 日間 週間 年間 期間 朝 昼 夜 夕方 今後 今回 前回
    次回 先日 数日 一日 半年 一年
    """,
    "zh": """
    今天 昨天 明天 前天 后天 後天 今晚 昨晚 明晚 今早 早上 上午 中午 下午 晚上 凌晨 夜里 现在 現在 目前 最近 刚才 刚刚
    以来 这周 上周 下周 本周 这个月 上个月 下个月 本月 上月 下月 今年 去年 明年 前年 每天 每周 每月 每年 周一 周二 周三 周四
    周五 周六 周日 周末 星期一 星期二 星期三 星期四 星期五 星期六 星期日 星期天 礼拜 星期 小时 分钟 时间 当时 后来 将来 未来
    上週 下週 這週 小時 分鐘 時間 月底 年底 年初 月初
    """,
}

_FAINT: Mapping[str, str] = {
    "en": """
    actually already almost always another anyone anything around ask asked asks away back bad become best better big came
    come comes done enough every everyone everything feel feels felt find first found gave get gets getting give given
    gives go goes going gone good got great happen happened help instead keep keeps kept kind know known knows less like
    liked likes little long look looking looks lot lots made make makes making many maybe mean means need needed needs
    never new nice nothing often okay one ones please possible pretty probably put really remember right said say saying says see
    seem seems seen several show small someone something sometimes still sure take taken takes talk talked tell thing
    things think thinks thought three time times told took tried try trying two use used uses using usually want wanted
    wants way ways well went whole work worked works yes dr mr mrs ms prof
    """,
    "fr": """
    aller allons allé allée allés allées faisait alors assez avoir beau beaucoup besoin bon bonne bonnes bons certain certaine certains chose
    choses cinq deux devoir devons dire dit doit doivent dois donner donné environ était faisait fois grand grande grandes
    grands homme jamais juste mal mettre mieux mis nouveau nouvelle nouveaux nouvelles oui parfois passé petit petite petits
    peut-être pouvoir pouvons premier première prendre pris presque quatre rien savoir seul seule seulement souvent surtout
    trois trouve trouver trouvé va vais vas venir veut veux viens vient voir vont vouloir voulons vraiment vu aime adore propos mme mlle dr
    """,
    "ko": """
    사람 생각 말 일 것들 부분 경우 사실 문제 필요 가능 내용 이유 방법 상태 느낌 나름 전체 관련 기준 자체 모습 시작 진행 이용
    사용 확인 완료
    """,
    "ja": "利用 使用 確認 開始 終了 問題 内容 理由 全体 自体 感じ 最初 最後 最高 大事 大切 大変 簡単 完了 決定 予定",
    "zh": "问题 内容 方法 使用 开始 完成 发现 表示 决定 比较 部分 工作 主要 重要 重新 一切 人们 喜欢 打算 准备 問題 內容 喜歡",
}


def _bare(word: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFD", word) if not unicodedata.combining(char))


def _folded(words: str) -> frozenset[str]:
    """The words as compared: case-folded."""
    return frozenset(words.casefold().split())


def _with_and_without_accents(words: str) -> frozenset[str]:
    accented = _folded(words)
    return accented | {_bare(word) for word in accented}


STOPWORDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "en": _folded(_ENGLISH),
        "fr": _with_and_without_accents(_FRENCH),
        "ko": _folded(_KOREAN),
        "ja": _folded(_JAPANESE),
        "zh": _folded(_CHINESE),
    }
)

# When something happened is kept with the memory, so words of time are no keywords; search must still find them.
TIMEWORDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        language: _with_and_without_accents(words) if language == "fr" else _folded(words)
        for language, words in _MONTHS_AND_DAYS.items()
    }
)

# Words with content, but too common to tell one memory from another: keywords only where nothing better is at hand.
FAINT: Mapping[str, frozenset[str]] = MappingProxyType({language: _folded(words) for language, words in _FAINT.items()})
