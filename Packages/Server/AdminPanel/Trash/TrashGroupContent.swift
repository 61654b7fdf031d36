import AdminService
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloLocalization

/// The values for the template `trash_group`.
struct TrashGroupContent: Sendable {
    struct Member: Sendable {
        let title: String
        let id: String
    }

    struct Part: Sendable {
        let className: String
        let count: Int
        let members: [Member]
        /// How many more there are, in words; nil if all are listed.
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
        /// The address in the trash of the object that this one belongs to.
        let parentLink: String?
    }

    let path: String
    let title: String
    let className: String
    let with: String?
    let trashedAt: Moment
    let trashedBy: String
    let reason: String?
    let purgeAt: Moment?
    let keptBecause: String?
    let isKept: Bool
    /// The label of the button that restores everything.
    let restoring: String
    let parts: [Part]
    let mayRestore: Bool
    let mayPurge: Bool
    var problem: Problem?
    var clashes: [Clash] = []

    init(
        _ entry: TrashGroups.Entry, _ members: [(className: String, key: Value, row: Row)], _ schema: Schema,
        mayRestore: Bool, mayPurge: Bool, now: Int64
    ) {
        let line = TrashContent.Entry(entry, schema, now: now)
        path = TrashPages.path(of: entry.address)
        title = line.title
        className = line.className
        with = line.with.isEmpty ? nil : line.with
        trashedAt = line.trashedAt
        trashedBy = line.trashedBy
        reason = line.reason
        purgeAt = line.purgeAt
        keptBecause = line.keptBecause
        isKept = line.isKept
        restoring = entry.count > 1 ? localized("Restore all \(entry.count)") : localized("Restore")
        self.mayRestore = mayRestore
        self.mayPurge = mayPurge
        let byClass = Dictionary(grouping: members, by: \.className)
        parts = entry.counts.map { part in
            let listed = (byClass[part.className] ?? []).map { member in
                Member(
                    title: schema[member.className].map { ObjectTitle.of(member.row, $0) } ?? member.className,
                    id: member.key.keyText)
            }
            let left = part.count - listed.count
            return Part(
                className: ClassTitle.words(part.className), count: part.count, members: listed,
                more: left > 0 ? localized("And \(left) more.") : nil)
        }
    }

    // MARK: Clashes

    /// Shows why a restore was refused, and the choices that there are.
    /// - Parameters:
    ///   - clashes: the failure with the clashes; nil if there are none.
    ///   - form: the previous choices, so that nothing has to be typed twice.
    ///   - rows: the objects in the trash, by address.
    mutating func show(
        _ failure: RequestFailure, clashes: RequestFailure?, _ form: RestoreForm, _ schema: Schema,
        _ rows: [TrashAddress: Row]
    ) {
        var parentLink: String?
        if let parent = failure.details["parent"]?["address"]?.text {
            parentLink = "\(TrashPages.path)/object/\(RequestParameters.encode(parent))"
        }
        guard case .array(let found)? = clashes?.details["clashes"] else {
            problem = Problem(message: failure.message, hint: failure.shownHint, parentLink: parentLink)
            return
        }
        // The hint of a clash explains how to choose in the API.
        let hint = failure.code == .conflict ? nil : failure.shownHint
        problem = Problem(message: failure.message, hint: hint, parentLink: parentLink)
        self.clashes = found.compactMap { clash($0, form, schema, rows) }
    }

    private func clash(
        _ json: JSON, _ form: RestoreForm, _ schema: Schema, _ rows: [TrashAddress: Row]
    ) -> Clash? {
        guard let className = json["class"]?.text, let key = json["_id"]?.text, let id = json["address"]?.text,
            let item = schema[className],
            case .array(let properties)? = json["properties"], case .array(let choices)? = json["choices"]
        else { return nil }
        let names = properties.compactMap(\.text)
        // Links aren't asked for: nobody wants to give a ticket another event if all it needs is another rank.
        let asked = names.filter { name in
            item.columnIndex(name).map { item.columns[$0].linkTarget == nil } ?? false
        }
        let title = parts.lazy.flatMap(\.members).first { $0.id.hasBytes(of: key) }?.title ?? key
        let (classTitle, same, other) = (ClassTitle.words(className), Self.list(names), Self.list(asked))
        var known = choices.compactMap(\.text)
        if asked.isEmpty { known.removeAll { $0 == "values" } }
        let chosen = form["choice-\(id)"]
        let row = (try? TrashAddress(id)).flatMap { rows[$0] }
        return Clash(
            className: classTitle, title: title,
            reason: localized("A live \(classTitle) has the same \(same)."),
            liveLink: json["live"]?.text.map {
                "\(ClassPages.path)/\(ClassSchema.collectionName(of: className))/\(RequestParameters.encode($0))"
            },
            choices: known.map { choice in
                Clash.Choice(
                    id: "choice-\(id)-\(choice)", name: "choice-\(id)", value: choice,
                    label: Self.label(choice, classTitle, other), isChosen: choice == (chosen ?? known.first))
            },
            values: known.contains("values")
                ? asked.map { name in
                    let old = item.columnIndex(name).flatMap { column in row.flatMap { ValueText.text($0[column]) } }
                    return Clash.Field(
                        id: "value-\(id)-\(name)", name: "value-\(id)-\(name)",
                        property: ClassTitle.inSentence(ClassTitle.words(name)),
                        value: form["value-\(id)-\(name)"] ?? old ?? "")
                } : [])
    }

    private static func list(_ names: [String]) -> String {
        names.map { ClassTitle.inSentence(ClassTitle.words($0)) }.joinedByAnd
    }

    private static func label(_ choice: String, _ classTitle: String, _ properties: String) -> String {
        switch choice {
        case "values": localized("Restore it with another \(properties)")
        case "leave": localized("Leave it in the trash, and restore the rest")
        default: localized("Move the live \(classTitle) into the trash instead")
        }
    }
}

extension JSON {
    /// The text of a string; nil for everything else.
    var text: String? { if case .string(let text) = self { text } else { nil } }
}
