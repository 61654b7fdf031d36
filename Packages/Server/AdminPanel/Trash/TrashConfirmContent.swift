/// What the template `trash_confirm` shows before something is deleted for ever.
struct TrashConfirmContent: Sendable {
    var lines: [String]
    let action: String
    var chosenClass: String?
    let button: String
    let back: String

    init(lines: [String], action: String, chosenClass: String? = nil, button: String, back: String) {
        self.lines = lines
        self.action = action
        self.chosenClass = chosenClass
        self.button = button
        self.back = back
    }
}
