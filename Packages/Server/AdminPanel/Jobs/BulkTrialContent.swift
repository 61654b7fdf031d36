import TomboloHTTP
import TomboloLocalization

/// The values for the template `bulk_trial`: the result of a dry run.
struct BulkTrialContent {
    struct Refusal {
        let title: String
        let reason: String
    }

    let button: String?
    /// What an update sets.
    let sets: [String]
    let tried: String
    let along: String?
    let gone: String?
    let left: String?
    let refused: String?
    let refusals: [Refusal]
    /// How many objects the app keeps in the trash.
    let kept: String?
    let keepers: [Refusal]
    let isUndoable: Bool
    /// Whether the job could have any effect; false if all objects were tried and refused.
    let mayStart: Bool

    init(
        _ found: JSON, _ words: BulkWords, sets: [String], gone: Int, titles: ChoiceTitles, isUndoable: Bool
    ) {
        func number(_ name: String) -> Int { found[name]?.number ?? 0 }
        let (checked, refusedCount, leftCount) = (number("checked"), number("refused"), number("leftAlone"))
        button = words.count > 0 ? words.button : nil
        self.sets = sets
        self.isUndoable = isUndoable
        mayStart = refusedCount == 0 || refusedCount < words.count
        tried =
            checked == words.count
            ? localized("This was a trial with all of them. Nothing has changed yet.")
            : localized("This was a trial with \(PanelNumber.text(checked)) of them. Nothing has changed yet.")
        along = words.along(number("along"))
        let goneText = PanelNumber.text(gone)
        self.gone =
            gone > 0
            ? localized(
                gone, one: "\(goneText) of those that you chose no longer exists.",
                other: "\(goneText) of those that you chose no longer exist.") : nil
        let leftText = PanelNumber.text(leftCount)
        left =
            leftCount > 0
            ? localized(
                leftCount, one: "\(leftText) needs no change.", other: "\(leftText) need no change.") : nil
        let refusedText = PanelNumber.text(refusedCount)
        refused =
            refusedCount > 0
            ? localized(
                refusedCount, one: "\(refusedText) of those tried would be refused, and stays unchanged:",
                other: "\(refusedText) of those tried would be refused, and stay unchanged:") : nil
        func reasons(_ name: String) -> [Refusal] {
            (found[name]?.items ?? []).map { item in
                let id = item["id"]?.text ?? ""
                return Refusal(title: titles[id] ?? id, reason: item["reason"]?.text ?? "")
            }
        }
        refusals = reasons("refusals")
        let keptCount = number("kept")
        let keptText = PanelNumber.text(keptCount)
        kept =
            keptCount > 0
            ? localized(
                keptCount, one: "The app keeps \(keptText) of those tried for now, so it can't be deleted permanently:",
                other: "The app keeps \(keptText) of those tried for now, so they can't be deleted permanently:") : nil
        keepers = reasons("keptBecause")
    }
}

extension JSON {
    /// The elements of an array; empty for everything else.
    var items: [JSON] { if case .array(let items) = self { items } else { [] } }
    /// The members of an object with their names; empty for everything else.
    var members: [(name: String, value: JSON)] {
        guard case .object(let members) = self else { return [] }
        return members.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
