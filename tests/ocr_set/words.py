"""The words of the OCR set: English with numbers, paths and identifiers, code, and words of
six other languages."""

from __future__ import annotations

import html
import random
import re

from tests.e2e import text_page

GERMAN = [
    "Änderungen", "übernehmen", "Größe", "Straße", "schließen", "öffnen", "Übersicht", "Gerät", "Schlüssel", "prüfen",
    "löschen", "Ausführung", "Einstellungen", "Fenster", "Verzeichnis", "speichern", "Währung", "fünfzig", "Büro",
    "natürlich", "möglich", "Fußzeile", "Menü", "Gebühr", "Rückgängig", "Wörterbuch", "Schriftgröße", "Vergrößern",
    "zurück", "Lautstärke", "Anhänge", "Müller", "Köln", "München", "Zürich", "Maßstab", "Aufträge", "bestätigen",
    "verfügbar", "ungültig", "Passwörter", "Geschäft", "häufig", "später", "während", "außerdem", "gehört", "nächste",
]  # fmt: skip
RUSSIAN = [
    "Файл", "Правка", "Настройки", "Открыть", "Сохранить", "Отмена", "Закрыть", "Помощь", "Сообщение", "Ошибка",
    "Загрузка", "завершена", "пользователь", "пароль", "введите", "имя", "каталог", "Создать", "удалить", "выбрать",
    "размер", "шрифт", "экран", "сервер", "соединение", "потеряно", "повторить", "попытку", "через", "секунд",
    "обновление", "установлено", "успешно", "документ", "страница", "таблица", "строка", "столбец", "вставить",
    "копировать", "вырезать", "печать", "просмотр", "готово", "процесс", "запущен", "память", "диск", "сеть",
    "безопасность", "сертификат",
]  # fmt: skip
CHINESE = [
    "文件", "编辑", "查看", "历史记录", "书签", "工具", "帮助", "打开文件", "保存更改", "取消", "确定", "下载完成",
    "网络连接", "系统设置", "用户名称", "密码错误", "重新启动", "正在加载", "更新成功", "删除项目", "复制链接",
    "粘贴内容", "搜索结果", "上一页", "下一页", "关闭窗口", "语言选择", "打印预览", "数据备份", "安全中心", "设备管理",
    "磁盘空间", "内存使用", "任务列表", "进程信息", "服务器", "数据库", "操作完成", "登录失败", "重试连接", "输入法",
    "显示屏幕",
]  # fmt: skip
GREEK = [
    "Αρχείο", "Επεξεργασία", "Προβολή", "Ρυθμίσεις", "Άνοιγμα", "Αποθήκευση", "Ακύρωση", "Κλείσιμο", "Βοήθεια",
    "Μήνυμα", "Σφάλμα", "Λήψη", "ολοκληρώθηκε", "χρήστης", "κωδικός", "όνομα", "φάκελος", "δημιουργία", "διαγραφή",
    "επιλογή", "μέγεθος", "γραμματοσειρά", "οθόνη", "διακομιστής", "σύνδεση", "χάθηκε", "επανάληψη", "δευτερόλεπτα",
    "ενημέρωση", "επιτυχία", "έγγραφο", "σελίδα", "πίνακας", "γραμμή", "στήλη", "επικόλληση", "αντιγραφή", "αποκοπή",
    "εκτύπωση", "έτοιμο", "διεργασία", "μνήμη", "δίσκος", "δίκτυο", "ασφάλεια", "πιστοποιητικό",
]  # fmt: skip
KOREAN = [
    "파일", "편집", "보기", "설정", "열기", "저장", "취소", "닫기", "도움말", "메시지", "오류", "다운로드", "완료",
    "사용자", "비밀번호", "이름", "폴더", "만들기", "삭제", "선택", "크기", "글꼴", "화면", "서버", "연결", "실패",
    "다시", "업데이트", "성공", "문서", "페이지", "복사", "인쇄", "준비", "메모리", "네트워크", "보안", "인증서",
    "검색", "결과",
]  # fmt: skip
JAPANESE = [
    "ファイル", "編集", "表示", "設定", "開く", "保存する", "キャンセル", "閉じる", "ヘルプ", "メッセージ", "エラー",
    "ダウンロード完了", "ユーザー名", "パスワード", "フォルダー", "新規作成", "削除", "選択", "サイズ", "フォント",
    "画面", "サーバー", "接続が切れました", "再試行", "更新プログラム", "成功", "文書", "ページ", "コピー", "印刷",
    "準備完了", "メモリ", "ネットワーク", "セキュリティ", "証明書", "検索結果", "お気に入り", "次へ進む",
]  # fmt: skip

INLINE = ("span", "b")
"""Tags that stand inside words."""


def english(seed: int, rows: int, letters: int) -> list[str]:
    """Return lines of English words, numbers, paths and identifiers of at most so many letters."""
    return [" ".join(row) for row in text_page.lines(seed, rows, letters) if row]


def of_list(words: list[str], seed: int, rows: int, count: int) -> list[list[str]]:
    drawn = random.Random(seed)
    pool: list[str] = []
    while len(pool) < rows * count:
        pool += drawn.sample(words, len(words))
    numbered = [str(drawn.randrange(10, 9999)) if place % 9 == 8 else word for place, word in enumerate(pool)]
    return [numbered[row * count : (row + 1) * count] for row in range(rows)]


def cells(seed: int, rows: int, columns: int) -> list[list[str]]:
    """Return a table: a head of words, then words, numbers, dates."""
    drawn = random.Random(seed)
    head = [word.title() for word in drawn.sample(text_page.ENGLISH, columns)]
    body = [
        [drawn.choice(text_page.ENGLISH) if x % 2 == 0 else text_page.number(drawn) for x in range(columns)]
        for _ in range(rows - 1)
    ]
    return [head, *body]


def sheet(seed: int, rows: int, columns: int) -> list[list[str]]:
    """Return a spreadsheet: short cells, most of them numbers, a few of them empty."""
    drawn = random.Random(seed)
    head = [word.title() for word in drawn.sample(text_page.ENGLISH, columns)]
    return [head, *[[_sheet_cell(drawn, x) for x in range(columns)] for _ in range(rows - 1)]]


def _sheet_cell(drawn: random.Random, column: int) -> str:
    if column % 4 == 0:
        return " ".join(drawn.sample(text_page.ENGLISH, 2))
    if column % 4 == 1:
        return str(drawn.randrange(0, 100))
    return "" if drawn.random() < 0.1 else text_page.number(drawn)


def code(seed: int, rows: int) -> list[str]:
    """Return lines of code: names with underscores, and `I`, `l`, `1`, `O` and `0` side by side."""
    drawn = random.Random(seed)
    return [drawn.choice(_CODE_LINES).format(*[_name(drawn) for _ in range(3)]) for _ in range(rows)]


_CODE_LINES = (
    "def {0}(self, {1}: int) -> None:", "{0} = [{1}[i] for i in range(10)]", "if {0} != {1} and not {2}:",
    "self._{0} = {1}.{2}()", "const int {0} = 0x10FF; // {1}", "export {0}=/usr/lib/{1}.so.1", "return {{'{0}': {1}}}",
    "from {0}.{1} import {2}",
)  # fmt: skip


def _name(drawn: random.Random) -> str:
    one, other = drawn.sample(text_page.ENGLISH, 2)
    number = drawn.randrange(2)
    shapes = (
        f"{one}_{other}",
        f"__{one}__",
        f"{one}_l{number}_{other}",
        f"I{number}_{one}",
        f"{one.upper()}_ID",
        f"is_{one}Il{number}",
    )
    return drawn.choice(shapes)


def counted(texts: list[str]) -> list[str]:
    return [word for text in texts for word in text.split() if re.search(r"\w", word)]


def without_colours(text: str) -> str:
    return re.sub("\033\\[[0-9;]*m", "", text)


def of_page(body: str) -> str:
    """Return the text of an HTML page's body. A tag that is not one of `INLINE` parts words."""
    joined = re.sub(rf"</?(?:{'|'.join(INLINE)})(?:\s[^>]*)?>", "", body)
    return html.unescape(re.sub(r"</?[a-z][a-z0-9]*(?:\s[^>]*)?/?>", " ", joined))
