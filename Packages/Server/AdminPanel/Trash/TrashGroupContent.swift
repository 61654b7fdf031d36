import AdminService
import TomboloHTTP
import TomboloModel

/// What the template `trash_group` shows.
struct TrashGroupContent: Sendable {
    struct Member: Sendable {
        let title: String
        let id: String
    }

    struct Part: Sendable {
        let className: String
        let count: Int
        let members: [Member]
        /// In words, if not all are listed.
        let more: String?
    }

    struct Clash: Sendable {
        struct Choice: Sendable {
            let id: String
            let name: String
            let value: String
            let label: String
            let isChosen: Bool
        }

        struct Field: Sendable {
            let id: String
            let name: String
            let property: String
            let value: String
        }

        let className: String
        let title: String
        let reason: String
        let liveLink: String?
        let choices: [Choice]
        let values: [Field]
    }

    struct Problem: Sendable {
        let message: String
        let hint: String?
        /// Where what an object belongs to lies in the trash.
        let parentLink: String?
    }

    let address: String
    let title: String
    let className: String
    let with: String?
    let trashedAt: Moment
    let trashedBy: String
    let reason: String?
    let purgeAt: Moment?
    let keptBecause: String?
    let countText: String?
    let parts: [Part]
    let mayRestore: Bool
    let mayPurge: Bool
    var problem: Problem?
    var clashes: [Clash] = []

    init(
        _ entry: TrashGroups.Entry, _ members: [(className: String, id: ObjectId, row: Row)], _ schema: Schema,
        mayRestore: Bool, mayPurge: Bool, now: Int64
    ) {
        let line = TrashContent.Entry(entry, schema, now: now)
        address = entry.address
        title = line.title
        className = line.className
        with = line.with.isEmpty ? nil : line.with
        trashedAt = line.trashedAt
        trashedBy = line.trashedBy
        reason = line.reason
        purgeAt = line.purgeAt
        keptBecause = line.keptBecause
        countText = entry.count > 1 ? "all \(entry.count)" : nil
        self.mayRestore = mayRestore
        self.mayPurge = mayPurge
        let byClass = Dictionary(grouping: members, by: \.className)
        parts = entry.counts.map { part in
            let listed = (byClass[part.className] ?? []).map { member in
                Member(
                    title: schema[member.className].map { ObjectTitle.of(member.row, $0) } ?? member.className,
                    id: member.id.stringValue)
            }
            let left = part.count - listed.count
            return Part(
                className: part.className, count: part.count, members: listed,
                more: left > 0 ? "And \(left) more." : nil)
        }
    }

    // MARK: Clashes

    /// Shows why a restore was refused, with what there is to choose.
    /// - Parameter chosen: what the form had, so that nothing is typed twice.
    mutating func show(_ failure: RequestFailure, _ form: [String: String], _ schema: Schema) {
        var parentLink: String?
        if let parent = failure.details["parent"]?["_id"]?.text { parentLink = "/panel/trash/object/\(parent)" }
        problem = Problem(message: failure.message, hint: nil, parentLink: parentLink)
        guard case .array(let found)? = failure.details["clashes"] else {
            problem = Problem(message: failure.message, hint: failure.hint, parentLink: parentLink)
            return
        }
        clashes = found.compactMap { clash($0, form) }
    }

    private func clash(_ json: JSON, _ form: [String: String]) -> Clash? {
        guard let className = json["class"]?.text, let id = json["_id"]?.text,
            case .array(let properties)? = json["properties"], case .array(let choices)? = json["choices"]
        else { return nil }
        let names = properties.compactMap(\.text)
        let list = names.joined(separator: " and ")
        let title = parts.first { $0.className == className }?.members.first { $0.id == id }?.title ?? id
        let known = choices.compactMap(\.text)
        let chosen = form["choice-\(id)"]
        return Clash(
            className: className, title: title, reason: "A live \(className) has the same \(list) by now.",
            liveLink: json["live"]?.text.map { "/panel/data/\(ClassSchema.collectionName(of: className))/\($0)" },
            choices: known.map { choice in
                Clash.Choice(
                    id: "choice-\(id)-\(choice)", name: "choice-\(id)", value: choice,
                    label: Self.label(choice, className, list), isChosen: choice == (chosen ?? known.first))
            },
            values: known.contains("values")
                ? names.map { name in
                    Clash.Field(
                        id: "value-\(id)-\(name)", name: "value-\(id)-\(name)", property: name,
                        value: form["value-\(id)-\(name)"] ?? "")
                } : [])
    }

    private static func label(_ choice: String, _ className: String, _ properties: String) -> String {
        switch choice {
        case "values": "Restore it with another \(properties)"
        case "leave": "Leave it in the trash, and restore the rest"
        default: "Move the live \(className) into the trash instead"
        }
    }
}

extension JSON {
    /// The text of a string; nil for everything else.
    var text: String? { if case .string(let text) = self { text } else { nil } }
}
