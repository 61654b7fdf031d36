import TomboloHTTP

/// What the template `bulk_trial` shows: what a dry run found.
struct BulkTrialContent {
    struct Refusal {
        let title: String
        let reason: String
    }

    let button: String?
    /// Of a change: what it sets.
    let sets: [String]
    let tried: String
    let along: String?
    let gone: String?
    let left: String?
    let refused: String?
    let refusals: [Refusal]
    let isUndoable: Bool

    init(
        _ found: JSON, _ words: BulkWords, sets: [String], gone: Int, titles: [String: String], isUndoable: Bool
    ) {
        func number(_ name: String) -> Int { found[name]?.number ?? 0 }
        let (checked, refusedCount, leftCount) = (number("checked"), number("refused"), number("leftAlone"))
        button = words.count > 0 ? words.button : nil
        self.sets = sets
        self.isUndoable = isUndoable
        tried =
            checked == words.count
            ? "It was tried with all of them, and taken back: nothing has changed yet."
            : "It was tried with the first \(PanelNumber.text(checked)) of them, and taken back: nothing has changed yet."
        along = words.along(number("along"))
        self.gone =
            gone > 0
            ? "\(PanelNumber.text(gone)) of those that you chose \(gone == 1 ? "isn't" : "aren't") there any more."
            : nil
        left = leftCount > 0 ? "\(PanelNumber.text(leftCount)) \(leftCount == 1 ? "is" : "are") so already." : nil
        refused =
            refusedCount > 0
            ? "\(PanelNumber.text(refusedCount)) of those tried \(refusedCount == 1 ? "is" : "are") refused, and would "
                + "stay as \(refusedCount == 1 ? "it is" : "they are"):" : nil
        refusals = (found["refusals"]?.items ?? []).map { item in
            let id = item["id"]?.text ?? ""
            return Refusal(title: titles[id] ?? id, reason: item["reason"]?.text ?? "")
        }
    }
}

extension JSON {
    /// The elements of an array; none for everything else.
    var items: [JSON] { if case .array(let items) = self { items } else { [] } }
    /// The members of an object by their names; none for everything else.
    var members: [(name: String, value: JSON)] {
        guard case .object(let members) = self else { return [] }
        return members.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
