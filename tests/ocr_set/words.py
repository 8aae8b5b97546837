"""The words of the OCR set: English with numbers, paths and identifiers, German, Russian and Chinese."""

from __future__ import annotations

import html
import random
import re

from tests.e2e import text_page

GERMAN = [
    "Änderungen",
    "übernehmen",
    "Größe",
    "Straße",
    "schließen",
    "öffnen",
    "Übersicht",
    "Gerät",
    "Schlüssel",
    "prüfen",
    "löschen",
    "Ausführung",
    "Einstellungen",
    "Fenster",
    "Verzeichnis",
    "speichern",
    "Währung",
    "fünfzig",
    "Büro",
    "natürlich",
    "möglich",
    "Fußzeile",
    "Menü",
    "Gebühr",
    "Rückgängig",
    "Wörterbuch",
    "Schriftgröße",
    "Vergrößern",
    "zurück",
    "Lautstärke",
    "Anhänge",
    "Müller",
    "Köln",
    "München",
    "Zürich",
    "Maßstab",
    "Aufträge",
    "bestätigen",
    "verfügbar",
    "ungültig",
    "Passwörter",
    "Geschäft",
    "häufig",
    "später",
    "während",
    "außerdem",
    "gehört",
    "nächste",
]
RUSSIAN = [
    "Файл",
    "Правка",
    "Настройки",
    "Открыть",
    "Сохранить",
    "Отмена",
    "Закрыть",
    "Помощь",
    "Сообщение",
    "Ошибка",
    "Загрузка",
    "завершена",
    "пользователь",
    "пароль",
    "введите",
    "имя",
    "каталог",
    "Создать",
    "удалить",
    "выбрать",
    "размер",
    "шрифт",
    "экран",
    "сервер",
    "соединение",
    "потеряно",
    "повторить",
    "попытку",
    "через",
    "секунд",
    "обновление",
    "установлено",
    "успешно",
    "документ",
    "страница",
    "таблица",
    "строка",
    "столбец",
    "вставить",
    "копировать",
    "вырезать",
    "печать",
    "просмотр",
    "готово",
    "процесс",
    "запущен",
    "память",
    "диск",
    "сеть",
    "безопасность",
    "сертификат",
]
CHINESE = [
    "文件",
    "编辑",
    "查看",
    "历史记录",
    "书签",
    "工具",
    "帮助",
    "打开文件",
    "保存更改",
    "取消",
    "确定",
    "下载完成",
    "网络连接",
    "系统设置",
    "用户名称",
    "密码错误",
    "重新启动",
    "正在加载",
    "更新成功",
    "删除项目",
    "复制链接",
    "粘贴内容",
    "搜索结果",
    "上一页",
    "下一页",
    "关闭窗口",
    "语言选择",
    "打印预览",
    "数据备份",
    "安全中心",
    "设备管理",
    "磁盘空间",
    "内存使用",
    "任务列表",
    "进程信息",
    "服务器",
    "数据库",
    "操作完成",
    "登录失败",
    "重试连接",
    "输入法",
    "显示屏幕",
]

INLINE = ("span", "b")
"""Tags that stand inside words."""


def english(seed: int, rows: int, letters: int) -> list[str]:
    """Return lines of English words, numbers, paths and identifiers of at most so many letters."""
    return [" ".join(row) for row in text_page.lines(seed, rows, letters) if row]


def of_list(words: list[str], seed: int, rows: int, count: int) -> list[list[str]]:
    """Return `rows` rows of `count` words of the list, in a drawn order, a number here and there."""
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


def counted(texts: list[str]) -> list[str]:
    """Return the words of texts that hold a letter or digit."""
    return [word for text in texts for word in text.split() if re.search(r"\w", word)]


def without_colours(text: str) -> str:
    """Return `text` without its ANSI sequences."""
    return re.sub("\033\\[[0-9;]*m", "", text)


def of_page(body: str) -> str:
    """Return the text of an HTML page's body. A tag that is not one of `INLINE` parts words."""
    joined = re.sub(rf"</?(?:{'|'.join(INLINE)})(?:\s[^>]*)?>", "", body)
    return html.unescape(re.sub(r"</?[a-z][a-z0-9]*(?:\s[^>]*)?/?>", " ", joined))
