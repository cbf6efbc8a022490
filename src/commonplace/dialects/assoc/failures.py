"""What the world did not do, the store, the files or the models, in this dialect's words."""

from __future__ import annotations

from collections.abc import Mapping

from commonplace.dialects.assoc.wording import KEPT, Wording
from commonplace.domain import errors


def _store(detail: str, remedy: str) -> Wording:
    return Wording("STORAGE_ERROR", "ストレージエラーが発生しました", detail + " (詳細: {reason})", remedy)


FAILURES: Mapping[type[BaseException], Wording] = {
    errors.ChainBroken: Wording(
        "STORAGE_ERROR",
        "記憶のチェーンが壊れています",
        "ブロック{e.index} (詳細: {reason})",
        "バックアップと照合してください",
    ),
    errors.EmbeddingFailed: Wording(
        "EMBEDDING_ERROR",
        "埋め込みの生成に失敗しました",
        "{e.embedder} (詳細: {reason})",
        "埋め込みモデルの設定を確認して、もう一度実行してください",
    ),
    errors.TextRefused: Wording(
        "EMBEDDING_ERROR",
        "埋め込みモデルがこのテキストを受け付けません",
        "{e.embedder} (詳細: {reason})",
        "別の言葉で書き直すか、埋め込みモデルの設定を確認してください",
    ),
    errors.ModelFailed: Wording(
        "INTERNAL_ERROR",
        "言語モデルが応答しませんでした",
        "{e.model} (詳細: {reason})",
        f"モデルの接続先と設定を確認して、もう一度実行してください。{KEPT}",
    ),
    errors.FilesFailed: _store(
        "{e.location} のファイルを扱えません", "保存先への接続と書き込みの権限を確認して、もう一度実行してください"
    ),
    errors.StoreFailed: _store(
        "{e.path} を扱えません", "サーバーのログを確認してください。保存済みの記憶は失われていません"
    ),
    errors.StoreFull: _store(
        "{e.path} に空き容量がありません",
        "ディスクの空きを増やして、もう一度実行してください。保存済みの記憶は失われておらず、読み取りは続けられます",
    ),
    errors.StoreFullAtStart: _store(
        "起動時に {e.path} に空き容量がありませんでした",
        "ディスクの空きを増やして、サーバーを再起動してください。保存済みの記憶は失われておらず、読み取りは続けられます",
    ),
    errors.StoreUnopened: _store(
        "空き容量がないため、{e.path} を開けません",
        "ディスクの空きを増やして起動し直すか、`--data-dir` で別のフォルダーを指定してください",
    ),
    errors.StoreGone: _store(
        "{e.path} がなくなりました",
        "フォルダーを元に戻すか、サーバーを再起動して新しく始めてください。この変更は保存されていません",
    ),
    errors.StoreNowhere: _store(
        "{e.path} にフォルダーを作れません",
        f"`--data-dir` や `--backup-dir` で別のフォルダーを指定してください。{KEPT}",
    ),
    errors.StoreReadOnly: _store(
        "{e.path} に書き込めません",
        "フォルダーを書き込み可能にするか、`--data-dir` で別のフォルダーを指定してください。読み取りは続けられます",
    ),
    errors.StoreCorrupt: _store(
        "{e.path} が壊れています",
        "すべてのサーバーを止めて、最新のバックアップを復元してください。`commonplace backups` で一覧を表示し、"
        f"`commonplace restore NAME --yes` で復元できます。壊れたファイルも残ります。{KEPT}",
    ),
    errors.StoreForeign: _store(
        "{e.path} は他のプログラムのデータベースです",
        "`--data-dir` で別のフォルダーを指定するか、そのファイルを移動してください。ファイルは変更されていません",
    ),
    errors.StoreTooNew: _store(
        "{e.path} は新しいバージョンで作られています",
        f"commonplace を更新するか、`--data-dir` で別のフォルダーを指定してください。{KEPT}",
    ),
    errors.StoreBusy: _store(
        "{e.path} は他のプロセスが使用中です", "少し待って、もう一度実行してください。何も書き込まれていません"
    ),
    errors.StoreInUse: _store(
        "{e.path} は他のプロセスが開いています",
        f"このフォルダーを使うサーバーとコマンドをすべて止めて、もう一度実行してください。{KEPT}",
    ),
    errors.KeyNeeded: _store(
        "{e.path} は暗号化されています",
        "暗号化に使ったキーを `COMMONPLACE_ENCRYPTION_KEY` に設定するか、"
        f"`--encryption-key-file` でファイルを指定してください。{KEPT}",
    ),
    errors.KeyUnneeded: _store(
        "キーが設定されていますが、{e.path} は暗号化されていません",
        "暗号化するには、キーを `COMMONPLACE_NEW_ENCRYPTION_KEY` に移して `commonplace rekey` を実行してください。"
        f"このまま使うには、キーの設定を外してください。{KEPT}",
    ),
    errors.RekeyUnfinished: _store(
        "キーの変更 (`commonplace rekey`) が中断され、{e.path} のキーが一致しません",
        f"同じ `commonplace rekey` をもう一度実行してください。途中からでも完了します。{KEPT}",
    ),
    errors.BackupBroken: _store(
        "バックアップ {e.path} は信頼できません",
        "別のバックアップを使ってください (`commonplace backups`)。保存先のディスクも確認してください。"
        "ストアは変更されていません",
    ),
}
