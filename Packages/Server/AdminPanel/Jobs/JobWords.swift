import TomboloHTTP
import TomboloLocalization
import TomboloModel

/// The wording for jobs.
enum JobWords {
    /// The outcomes of rows: their names in addresses, and their titles.
    static var outcomes: [(name: String, title: String)] {
        [
            ("done", localized("Done")), ("refused", localized("Refused")), ("leftAlone", localized("Skipped")),
            ("pending", localized("Pending")),
        ]
    }

    /// What a job does: `Change listings`.
    static func title(_ job: JSON) -> String {
        let className = job["class"]?.text ?? ""
        let objects = ClassTitle.inSentence(ClassTitle.words(ClassSchema.collectionName(of: className)))
        switch job["kind"]?.text {
        case "update": return localized("Change \(objects)")
        case "trash": return localized("Move \(objects) to the trash")
        case "delete": return localized("Delete \(objects) permanently")
        case "restore": return localized("Restore \(objects)")
        case "import": return localized("Import \(objects)")
        case "undo":
            let undone = job["undoes"]?.number ?? 0
            return localized("Undo job \(undone): \(objects)")
        case let kind: return "\(ClassTitle.words(kind ?? "")) \(objects)"
        }
    }

    static func state(_ job: JSON) -> String {
        switch job["state"]?.text {
        case "draft": localized("Not started")
        case "queued": localized("Waiting")
        case "running": localized("Running")
        case "done": localized("Done")
        case "failed": localized("Failed")
        case "cancelled": localized("Cancelled")
        case let state: state ?? ""
        }
    }

    /// A row's place in the imported file: `Line 7`, or its position in a JSON array.
    /// - Returns: nil for rows of other jobs.
    static func place(ofRow number: Int, in job: JSON) -> String? {
        guard job["kind"]?.text == "import" else { return nil }
        let arguments = job["arguments"]
        let isLine = arguments?["format"]?.text == "csv" || arguments?["numbers"]?.text == "lines"
        return isLine ? localized("Line \(number)") : localized("Row \(number)")
    }

    static func isOpen(_ job: JSON) -> Bool { ["queued", "running"].contains(job["state"]?.text) }

    /// The notice after a job was stopped.
    static func ended(_ job: JSON) -> String {
        guard job["startedAt"]?.text == nil else { return localized("The job was stopped. What it did stays.") }
        return job["kind"]?.text == "import"
            ? localized("The file was discarded. Nothing was changed.")
            : localized("The job was discarded. Nothing was changed.")
    }

    /// What undoing the job affects.
    static func undoing(_ job: JSON) -> String {
        let number = job["done"]?.number ?? 0
        let count = Counted.objects(number, of: job["class"]?.text ?? "")
        switch job["kind"]?.text {
        case "trash":
            return localized(
                number, one: "\(count): restored from the trash, with what was moved there along with it.",
                other: "\(count): restored from the trash, with what was moved there along with them.")
        case "restore":
            return localized(
                number, one: "\(count): moved to the trash again, with what was restored along with it.",
                other: "\(count): moved to the trash again, with what was restored along with them.")
        case "update": return localized("\(count): set back to the previous values.")
        default:
            return localized(
                number, one: "\(count): what was done to it is undone.",
                other: "\(count): what was done to them is undone.")
        }
    }

    /// The ids in a relationship: several if it's a list.
    static func linked(_ relationship: JSON) -> String {
        guard case .array(let items)? = relationship["data"] else {
            return CellText.plain(relationship["data"]?["id"] ?? .null)
        }
        let ids = items.compactMap { $0["id"]?.text }
        guard !ids.isEmpty else { return localized("none") }
        return ids.joined(separator: ", ").shortened(toByteCount: CellText.listByteCount)
    }

    /// What a job sets, such as `Price: 7`, and the filters that select its objects.
    static func arguments(_ job: JSON) -> (sets: [String], filters: [String]) {
        let data = job["arguments"]?["data"]
        var sets = (data?["attributes"]?.members ?? []).map {
            "\(ClassTitle.words($0.name)): \(CellText.plain($0.value))"
        }
        sets += (data?["relationships"]?.members ?? []).map { member in
            "\(ClassTitle.words(member.name)): \(linked(member.value))"
        }
        if let reason = job["arguments"]?["reason"]?.text { sets.append(localized("Reason: \(reason)")) }
        let filters = (job["arguments"]?["filter"]?.members ?? []).map { "\($0.name) = \(CellText.plain($0.value))" }
        return (sets, filters)
    }
}
