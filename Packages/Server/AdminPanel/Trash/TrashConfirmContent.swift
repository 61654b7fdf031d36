/// What the template `trash_confirm` shows before something is deleted for ever.
struct TrashConfirmContent: Sendable {
    struct Problem: Sendable {
        let message: String
        let hint: String?
    }

    var lines: [String]
    let action: String
    var chosenClass: String?
    let button: String
    let back: String
    /// What it would be refused with, as it is now.
    var problem: Problem?

    init(lines: [String], action: String, chosenClass: String? = nil, button: String, back: String) {
        self.lines = lines
        self.action = action
        self.chosenClass = chosenClass
        self.button = button
        self.back = back
    }
}
