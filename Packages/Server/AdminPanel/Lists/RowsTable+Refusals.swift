import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization

/// Rows that weren't saved. They keep what was entered. Changes saved by others in the meantime are shown before
/// anything overwrites them.
extension RowsTable {
    /// - Parameter now: the object's current state; nil for a new object, or if the caller can no longer see it.
    func refused(_ row: Row, _ failure: RequestFailure, now: PanelResource?) -> Row {
        var row = row
        row.problems = failure.code == .preconditionFailed ? [.changedMeanwhile] : [failure] + failure.others
        if let now { return rebased(row, onto: now) }
        return !row.isNew && failure.code == .notFound ? gone(row) : row
    }

    func gone(_ row: Row) -> Row {
        var row = row
        row.isGone = true
        row.problems = [
            RequestFailure(
                .notFound, "It's no longer here: somebody deleted it or moved it elsewhere.",
                hint: "Saving again leaves this row out.")
        ]
        return row
    }

    /// A row with the entered values, based on the object's current version for the next attempt. Fields that only
    /// somebody else changed get that value. There is no problem left if the object already has the entered values.
    func rebased(_ row: Row, onto now: PanelResource) -> Row {
        guard row.version != now.version else { return row }
        var result = self.row(now)
        let shown = result.entered
        result.entered = row.entered
        var isLost = false
        result.problems = [.changedMeanwhile] + row.problems.filter { $0.code != .preconditionFailed }
        for field in fields.compactMap({ FormField($0) }) {
            let name = field.field.name
            let (was, now) = (row.was[name] ?? .null, result.was[name] ?? .null)
            let own = row.entered[name].map { field.json($0, was: was) } ?? was
            guard shown[name] != nil else {
                // The text is too long for a row, or has become so.
                result.entered[name] = nil
                isLost = isLost || own != was
                continue
            }
            guard was != now else { continue }
            if own == was {
                result.entered[name] = field.text(now)
            } else if own != now {
                result.theirs[name] = CellText.value(now, field.field)["text"] as? String ?? ""
            }
        }
        if !isLost, document(result) == nil { result.problems = [] }
        return result
    }
}

extension RequestFailure {
    static var changedMeanwhile: RequestFailure {
        RequestFailure(
            .preconditionFailed, "Somebody has changed it in the meantime.",
            hint: "Check the current value. Saving again overwrites it with yours.")
    }
}
