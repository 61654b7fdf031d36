import AdminService
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel

/// The values for the template `trash_confirm`, the page shown before a permanent deletion.
struct TrashConfirmContent: Sendable {
    struct Problem: Sendable {
        let message: String
        let hint: String?
    }

    /// Objects that stay in the trash because the app keeps them.
    struct Kept: Sendable {
        let group: String
        let object: String
        let reason: String
    }

    var lines: [String]
    let action: String
    var chosenClass: String?
    let button: String
    let back: String
    /// The problem for which the deletion would currently be refused.
    var problem: Problem?
    var kept: [Kept] = []
    /// The number of further groups, in words; nil if all are listed.
    var more: String?
    /// What couldn't be determined.
    var note: String?

    init(lines: [String], action: String, chosenClass: String? = nil, button: String, back: String) {
        self.lines = lines
        self.action = action
        self.chosenClass = chosenClass
        self.button = button
        self.back = back
    }

    mutating func show(_ found: TrashGroups.Kept, _ schema: Schema) {
        kept = found.entries.map { entry in
            let title = schema[entry.className].flatMap { item in entry.row.map { ObjectTitle.of($0, item) } }
            let words = "\(ClassTitle.words(entry.className)) \(title ?? entry.key)"
            return Kept(group: RequestParameters.encode(entry.address), object: words, reason: entry.reason)
        }
        let left = found.groups - kept.count
        more = left > 0 ? localized("And \(left) more.") : nil
        if !found.isWhole {
            note = localized("The app couldn't be asked about every object. Objects that it keeps stay in the trash.")
        }
    }
}
