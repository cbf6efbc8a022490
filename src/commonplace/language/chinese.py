"""Chinese words without a dictionary: cut at function characters and common words, then by what repeats."""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import product

from commonplace.language.stopwords import FAINT, STOPWORDS, TIMEWORDS
from commonplace.language.words import Word

# Characters that are grammar wherever they are not part of a word listed below.
_GRAMMAR = frozenset(
    "的了是在和与及或而但也都就又还很太更最不没有我你您他她它们这那哪谁吗呢吧啊呀嘛哦着过得把被给让对从到向往为以于将"
    "会要能可该应想请用去来说看做叫跟比按由因所并且则即若虽之其此些个只每各等再才已正刚曾咱某何几两一二三四五六七八九"
    "十百千万亿零半多少年月日号点這個們與還沒嗎過對從為會來說給讓請雖幾兩萬億後后前里裡上下中内外时時地越應"
)

# Words with such characters inside, and everyday words worth an anchor: the text between them is easier to cut.
_ANCHORS = frozenset(
    """
    目的 的确 了解 是否 存在 内在 和平 和谐 参与 与会 涉及 及时 及格 有效 有趣 有用 拥有 没收 我国 对话 对象 对比 对手 反对 面对 绝对
    从事 到达 得到 达到 遇到 收到 迟到 向导 方向 以为 行为 作为 因素 原因 将军 会议 开会 社会 机会 学会 约会 聚会 晚会 协会 大会 会员 会计
    重要 主要 需求 要求 要点 摘要 功能 性能 智能 能力 能量 才能 可爱 可靠 认可 许可 应用 反应 供应 响应 应对 思想 理想 想法 想象 申请 请求
    邀请 请假 用户 使用 利用 费用 信用 作用 用餐 去世 来源 说明 小说 传说 看法 看病 做法 做饭 跟踪 跟进 比赛 比例 对比 按钮 由来 自由 理由
    并发 合并 规则 原则 立即 之间 个人 个性 各地 等级 再见 人才 天才 正式 正确 真正 修正 已知 一致 统一 唯一 第一 多样 至少 少年 青年 中年 老年
    年级 新年 月亮 日本 日记 日志 日期 日程 生日 节日 假日 编号 账号 信号 号码 地点 优点 缺点 特点 观点 重点 点击 点心 后端 前端 前提 目前 提前
    后台 售后 背后 后果 里程碑 公里 上海 上线 上传 上班 下班 下载 线上 线下 下单 中国 中心 中文 中学 高中 集中 内存 国内 室内 海外 外卖 外语 国外
    及时 准时 时代 实时 小时候 地址 地图 地铁 地区 土地 基地 当地 地球 着急 着装 沉着 过程 通过 经过 超过 过敏 难过 过期 被子 把握 给予 让步
    项目 截止 截止日期 推迟 延期 客户 团队 经理 老板 同事 公司 部门 系统 服务 服务器 数据 数据库 代码 测试 开发 产品 设计 方案 计划 任务 报告
    文档 文件 版本 发布 部署 更新 修复 漏洞 错误 接口 架构 算法 模型 训练 人工智能 机器学习 深度学习 自然语言 编程 语言 程序 程序员 工程师 软件
    硬件 网络 网站 手机 电脑 平台 市场 营销 销售 预算 合同 价格 成本 收入 投资 股票 银行 经济 政府 法律 教育 学校 老师 学生 大学 考试 学习 研究
    论文 知识 历史 文化 艺术 音乐 电影 电视 游戏 运动 足球 篮球 跑步 健身 游泳 旅行 旅游 酒店 机票 飞机 火车 高铁 汽车 北京 广州 深圳 杭州 成都
    首都 台湾 香港 美国 英国 法国 德国 韩国 东京 早餐 午餐 晚餐 早饭 午饭 晚饭 火锅 咖啡 牛奶 水果 蔬菜 餐厅 饭店 超市 医院 医生 感冒 发烧 健康 身体
    睡眠 睡觉 爸爸 妈妈 父母 父亲 母亲 哥哥 姐姐 弟弟 妹妹 儿子 女儿 孩子 奶奶 爷爷 家人 家庭 朋友 男朋友 女朋友 同学 邻居 结婚 婚礼 礼物 房子 房间
    厨房 天气 下雨 下雪 太阳 春天 夏天 秋天 冬天 环境 城市 农村 动物 小狗 小猫 开心 高兴 难受 生气 担心 焦虑 感谢 谢谢 疲惫 兴奋 紧张 压力 讨论
    决定 同意 解决 解决方案 提高 提升 改进 优化 管理 组织 安排 参加 讨论会 周会 例会 培训 面试 简历 招聘 离职 升职 工资 奖金 偏好 习惯 兴趣 爱好
    目标 策略 结果 效果 质量 安全 隐私 权限 密码 邮件 邮箱 消息 通知 电话 视频 图片 照片 新闻 文章 作者 读书 看书 书店 图书馆 配置 环境变量 缓存
    索引 查询 搜索 记忆 存储 向量 检索 评估 指标 实验 反馈 体验 界面 页面 首页 登录 注册 支付 订单 物流 库存 更改 变更 首先 最终 最佳 更好 就业 成就
    太极 还款 归还 都市 又名 也许 不同 不断 不足 不满 不安 没事 很久 他人 其次 此外 那边 这边 每日 只能 已有 可行 需要 团建 预订 预约 取消 结束 吉他 越南 新加坡 新冠 新能源 区块链 技术 推出 花生
    專案 會議 開會 團隊 客戶 截止日期 延期 資料 資料庫 程式 程式碼 測試 開發 產品 設計 計畫 報告 文件 版本 發布 部署 更新 錯誤 系統 伺服器 網路 軟體
    學習 學校 老師 學生 電影 音樂 遊戲 運動 旅行 醫院 醫生 健康 家人 朋友 天氣 開心 高興 應用 反應 區塊鏈 技術 推出 擔心 謝謝 壓力 討論 決定 台灣 日本 公司 老闆 同事 重要 主要
    """.split()
)

# A place and its institution are one name: 北京大学, 中国银行.
_PLACES = (
    "北京 上海 天津 重庆 广州 深圳 杭州 成都 南京 武汉 西安 苏州 台湾 台灣 香港 中国 中國 美国 美國 英国 法国 德国 韩国 日本 东京 新加坡"
).split()
_INSTITUTIONS = "大学 大學 学院 银行 銀行 医院 醫院 机场 機場 图书馆 火车站".split()
# What the name of a place ends in, after two characters: 武汉|长江大桥.
_LANDMARKS = ("大桥", "大橋", "大厦", "公园", "广场", "机场", "车站", "博物馆", "体育馆")

# Verbs and adjectives of one character before a noun: 喝乌龙茶, 新产品.
_LEADING = frozenset("喝吃买卖写读听玩住新旧叫找带送爱買賣寫讀聽舊帶愛")
_COMMON, _GUESS = 0.3, 0.9
_SHORT = 100


def words(run: str, repeated: frozenset[str] = frozenset()) -> Iterator[Word]:
    """The content words of one stretch of Chinese characters; repeated are the n-grams the text has more than once."""
    for piece, known in _pieces(run):
        for word in [piece] if known else _cut(piece, repeated):
            if len(word) > 1 and word not in STOPWORDS["zh"] and word not in TIMEWORDS["zh"]:
                yield Word(word, _COMMON if word in FAINT["zh"] else 1.0 if known else _GUESS)


def repeated_in(stretches: Iterable[str]) -> frozenset[str]:
    """The n-grams of two to four characters that occur more than once between known words and grammar."""
    unknown = [piece for run in stretches for piece, known in _pieces(run) if not known and len(piece) > 1]
    grams = [piece[i : i + n] for piece in unknown for n in (2, 3, 4) for i in range(len(piece) - n + 1)]
    if len(set(grams)) == len(grams):
        return frozenset()
    return frozenset(gram for gram, count in Counter(grams).items() if count > 1)


def _pieces(run: str) -> Iterable[tuple[str, bool]]:
    """Known words, and the unknown stretches between them and grammar, in order."""
    return _just_cut(run) if len(run) <= _SHORT else _found(run)


@lru_cache(maxsize=64)
def _just_cut(run: str) -> tuple[tuple[str, bool], ...]:
    """Every stretch of a text is cut twice, once to see what repeats."""
    return tuple(_found(run))


def _found(run: str) -> Iterator[tuple[str, bool]]:
    vocabulary, lengths = _vocabulary(), _lengths()
    start = position = 0
    while position < len(run):
        fitting = lengths.get(run[position], ())
        length = next((n for n in fitting if run[position : position + n] in vocabulary), 0) if fitting else 0
        if not length and run[position] not in _GRAMMAR:
            position += 1
            continue
        if position - start == 2 and run.startswith("大学", position):
            # A name, like 清华大学: two characters that are nothing else.
            position, length = start, 4
        if position > start:
            yield run[start:position], False
        if length:
            yield run[position : position + length], True
        start = position = position + max(length, 1)
    if position > start:
        yield run[start:position], False


def _cut(piece: str, repeated: frozenset[str]) -> Iterator[str]:
    """Up to three characters are a word, as are four unless half of them repeats; more are cut in twos."""
    if len(piece) > 2 and piece[0] in _LEADING:
        piece = piece[1:]
    if len(piece) > 2 and piece[-1] in "新旧":
        piece = piece[:-1]
    if len(piece) < 4 or (len(piece) == 4 and not {piece[:2], piece[2:]} & repeated):
        yield piece
        return
    if piece.endswith(_LANDMARKS):
        yield from _before_landmark(piece, repeated)
        return
    position = 0
    while position < len(piece):
        rest = len(piece) - position
        length = next(
            (n for n in (4, 3, 2) if n <= rest and piece[position : position + n] in repeated), 3 if rest == 3 else 2
        )
        yield piece[position : position + length]
        position += length


def _before_landmark(piece: str, repeated: frozenset[str]) -> Iterator[str]:
    """Up to five characters are the landmark's name; of more it is the last two before what it is."""
    length = 2 + len(next(landmark for landmark in _LANDMARKS if piece.endswith(landmark)))
    if len(piece) <= max(length, 5):
        yield piece
        return
    yield from _cut(piece[:-length], repeated)
    yield piece[-length:]


@cache
def _vocabulary() -> frozenset[str]:
    named = frozenset(map("".join, product(_PLACES, _INSTITUTIONS)))
    return _ANCHORS | named | STOPWORDS["zh"] | TIMEWORDS["zh"] | FAINT["zh"]


@cache
def _lengths() -> dict[str, tuple[int, ...]]:
    """By first character, how long the words are that begin with it: most characters begin none."""
    found: dict[str, set[int]] = {}
    for word in _vocabulary():
        found.setdefault(word[0], set()).add(len(word))
    return {first: tuple(sorted(lengths, reverse=True)) for first, lengths in found.items()}
