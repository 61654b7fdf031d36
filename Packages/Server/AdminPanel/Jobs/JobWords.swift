import TomboloHTTP
import TomboloModel

/// Jobs in words.
enum JobWords {
    /// The outcomes of rows, as in addresses and as people read them.
    static let outcomes = [
        (name: "done", title: "Done"), (name: "refused", title: "Refused"), (name: "leftAlone", title: "Skipped"),
        (name: "pending", title: "Pending"),
    ]

    /// What a job does: `Change listings`.
    static func title(_ job: JSON) -> String {
        let className = job["class"]?.text ?? ""
        let words = ClassTitle.words(ClassSchema.collectionName(of: className))
        let objects = words.prefix(1).lowercased() + words.dropFirst()
        switch job["kind"]?.text {
        case "update": return "Change \(objects)"
        case "trash": return "Move \(objects) to the trash"
        case "delete": return "Delete \(objects) permanently"
        case "restore": return "Restore \(objects)"
        case "undo": return "Undo job \(job["undoes"]?.number ?? 0): \(objects)"
        case let kind: return "\(ClassTitle.words(kind ?? "")) \(objects)"
        }
    }

    static func state(_ job: JSON) -> String {
        switch job["state"]?.text {
        case "draft": "Not started"
        case "queued": "Waiting"
        case "running": "Running"
        case "done": "Done"
        case "failed": "Failed"
        case "cancelled": "Cancelled"
        case let state: state ?? ""
        }
    }

    /// Where a row of an import is in its file: `Line 7`, or its place in an array of JSON.
    /// - Returns: nil for rows of other jobs.
    static func place(ofRow number: Int, in job: JSON) -> String? {
        guard job["kind"]?.text == "import" else { return nil }
        let arguments = job["arguments"]
        let isLine = arguments?["format"]?.text == "csv" || arguments?["numbers"]?.text == "lines"
        return "\(isLine ? "Line" : "Row") \(number)"
    }

    static func isOpen(_ job: JSON) -> Bool { ["queued", "running"].contains(job["state"]?.text) }

    /// What a notice says when somebody has ended it.
    static func ended(_ job: JSON) -> String {
        guard job["startedAt"]?.text == nil else { return "The job was stopped. What it did stays." }
        return job["kind"]?.text == "import"
            ? "The file was discarded. Nothing was changed." : "The job was discarded. Nothing was changed."
    }

    /// What undoing it touches.
    static func undoing(_ job: JSON) -> String {
        let number = job["done"]?.number ?? 0
        let count = Counted.objects(number, of: job["class"]?.text ?? "")
        let them = number == 1 ? "it" : "them"
        switch job["kind"]?.text {
        case "trash": return "\(count): restored from the trash, with what went there along with \(them)."
        case "restore": return "\(count): moved to the trash again, with what was restored along with \(them)."
        case "update": return "\(count): set back to the previous values."
        default: return "\(count): what was done to \(them) is undone."
        }
    }

    /// What a job sets, or chose by: `Price: 7`.
    static func arguments(_ job: JSON) -> (sets: [String], filters: [String]) {
        let data = job["arguments"]?["data"]
        var sets = (data?["attributes"]?.members ?? []).map {
            "\(ClassTitle.words($0.name)): \(CellText.plain($0.value))"
        }
        sets += (data?["relationships"]?.members ?? []).map { member in
            "\(ClassTitle.words(member.name)): \(member.value["data"]?["id"].map { CellText.plain($0) } ?? "none")"
        }
        if let reason = job["arguments"]?["reason"]?.text { sets.append("Reason: \(reason)") }
        let filters = (job["arguments"]?["filter"]?.members ?? []).map { "\($0.name) = \(CellText.plain($0.value))" }
        return (sets, filters)
    }
}
