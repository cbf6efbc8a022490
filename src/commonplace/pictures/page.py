from commonplace.pictures.sheet import Sheet
def page(sheet: Sheet) -> str:
    return ""
