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
    /// Whether anything may come of it: not all of them were tried and refused.
    let mayStart: Bool

    init(
        _ found: JSON, _ words: BulkWords, sets: [String], gone: Int, titles: [String: String], isUndoable: Bool
    ) {
        func number(_ name: String) -> Int { found[name]?.number ?? 0 }
        let (checked, refusedCount, leftCount) = (number("checked"), number("refused"), number("leftAlone"))
        button = words.count > 0 ? words.button : nil
        self.sets = sets
        self.isUndoable = isUndoable
        mayStart = refusedCount == 0 || refusedCount < words.count
        tried =
            checked == words.count
            ? "This was a trial with all of them. Nothing has changed yet."
            : "This was a trial with \(PanelNumber.text(checked)) of them. Nothing has changed yet."
        along = words.along(number("along"))
        self.gone =
            gone > 0
            ? "\(PanelNumber.text(gone)) of those that you chose no longer \(gone == 1 ? "exists" : "exist")."
            : nil
        left = leftCount > 0 ? "\(PanelNumber.text(leftCount)) \(leftCount == 1 ? "needs" : "need") no change." : nil
        refused =
            refusedCount > 0
            ? "\(PanelNumber.text(refusedCount)) of those tried would be refused, and stay unchanged:" : nil
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
