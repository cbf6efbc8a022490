"""Sentences to read an unknown embedder's cosines by: pairs that say the same, on subjects that have nothing in common."""

ALIKE: tuple[tuple[str, str], ...] = (
    ("The meeting was moved to Thursday afternoon.", "The meeting has been moved to Thursday afternoon."),
    ("My sister adopted a small grey cat.", "My sister has adopted a little grey cat."),
    ("The server ran out of memory last night.", "Last night the server ran out of memory."),
    ("Le train pour Lyon part à huit heures.", "Le train de Lyon partira à huit heures."),
    ("Il faut renouveler le certificat avant lundi.", "Le certificat doit être renouvelé avant lundi."),
    ("プロジェクトの締め切りは来週の金曜日です。", "プロジェクトの締切は来週の金曜です。"),
    ("祖母は毎朝庭で野菜を育てています。", "祖母は毎朝、庭の野菜を育てている。"),
    ("회의가 다음 주로 연기되었다.", "회의가 다음 주로 미뤄졌습니다."),
    ("그는 바다 근처의 작은 집을 샀다.", "그는 바닷가의 작은 집을 구입했다."),
    ("数据库的备份每天凌晨三点运行。", "数据库备份每天凌晨三点执行。"),
    ("她最喜欢的水果是芒果和荔枝。", "她最爱吃的水果是芒果和荔枝。"),
)
