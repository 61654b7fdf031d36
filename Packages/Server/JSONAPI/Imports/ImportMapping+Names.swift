import TomboloHTTP
import TomboloModel
import TomboloLocalization

extension ImportMapping {
    /// All members that a column can map to, with the names that exports use.
    package static func memberNames(of type: ResourceType, _ view: CallerView) -> [String] {
        func names(_ fields: [ResourceField], _ prefix: String) -> [String] {
            fields.flatMap { field in
                let name = prefix + field.name
                guard case .embedded(_, let inner) = field.content else { return [name] }
                return [name] + names(inner, "\(name).")
            }
        }
        return ["id"] + names(view.fields(of: type), "")
    }

    /// The member that each column probably means: the one with the same name, or with a name that differs only in
    /// case, blanks and punctuation.
    package static func suggestions(
        _ columns: [String], of type: ResourceType, _ view: CallerView
    ) -> [String: String] {
        func plain(_ name: String) -> String { name.lowercased().filter { $0.isLetter || $0.isNumber } }
        var free = memberNames(of: type, view)
        var result: [String: String] = [:]
        // An export's titles beside ids are for people.
        let titles = Set(view.fields(of: type).filter(\.isRelationship).map(\.titleName))
        for isExact in [true, false] {
            for column in columns where result[column] == nil && !titles.contains(column) {
                let wanted = isExact ? column : plain(column)
                guard !wanted.isEmpty, let found = free.first(where: { (isExact ? $0 : plain($0)) == wanted }) else {
                    continue
                }
                // An object as a whole can't be mapped together with its members.
                free.removeAll { $0 == found || $0.hasPrefix("\(found).") || found.hasPrefix("\($0).") }
                result[column] = found
            }
        }
        return result
    }

    /// Why a column with an export's titles maps to nothing; nil for other columns.
    package static func titleRemark(_ column: String, of type: ResourceType, _ view: CallerView) -> String? {
        view.fields(of: type).first { $0.isRelationship && $0.titleName == column }
            .map { localized("Titles are read-only: change '\($0.name)' instead.") }
    }

    /// The columns that map to nothing, and why.
    var ignored: [JSON] {
        columnNames.filter { json[$0] == .null }.map { column in
            let reason = Self.titleRemark(column, of: type, view) ?? localized("No member was chosen for it.")
            return ["column": .string(column), "reason": .string(reason)]
        }
    }

    /// The members that rows are matched by.
    var matchJSON: JSON { .array((match?.names ?? ["id"]).map(JSON.string)) }

    // MARK: What is wrong, and where

    /// `Line 7`, or the position in a JSON array.
    func name(ofRow number: Int64) -> Wording {
        numbersLines ? Wording("Line \(number)") : Wording("Row \(number)")
    }

    /// What the row of a new resource lacks.
    /// - Parameter problems: the same row's other problems: a value that can't be read isn't missing.
    func missing(_ parsed: Parsed, besides problems: [RequestFailure] = []) -> [RequestFailure] {
        required.compactMap { member in
            guard parsed.attributes[member.name] == nil, parsed.relationships[member.name] == nil,
                !problems.contains(where: { Self.isAbout($0, member.pointer) })
            else { return nil }
            return RequestFailure(
                .unprocessable, Wording("'\(member.name)' is required."),
                hint: member.isMapped
                    ? Wording("Write a value into the cell.")
                    : Wording("Choose a column for it, or add one to the file."),
                properties: [member.name], source: .pointer(member.pointer))
        }
    }

    /// Members that every row of a new resource lacks, since no column maps to them.
    func unmapped(_ failures: [RequestFailure]) -> [String] {
        required.filter { member in
            !member.isMapped && failures.contains { Self.isAbout($0, member.pointer) }
        }.map(\.name)
    }

    private static func isAbout(_ failure: RequestFailure, _ place: String) -> Bool {
        guard case .pointer(let pointer)? = failure.source else { return false }
        return pointer == place || pointer.hasPrefix("\(place)/")
    }

    /// The column that a failure is about, and its member.
    private func place(of failure: RequestFailure) -> (member: String, column: String)? {
        places.first { Self.isAbout(failure, $0.pointer) }.map { ($0.member, $0.column.name) }
    }

    /// The same failure, with the columns' names in the messages.
    func located(_ failure: RequestFailure) -> RequestFailure {
        var result = failure
        if let place = place(of: failure) {
            let column = place.column.shortened(toByteCount: 60)
            result.wording = Wording("Column '\(column)': \(failure.wording)")
        }
        result.others = failure.others.map(located)
        return result
    }

    /// What is wrong with a row, in a preview's words.
    func problems(_ failures: [RequestFailure], row number: Int64) -> [JSON] {
        failures.map { failure in
            let place = place(of: failure)
            let member = place?.member ?? unmapped([failure]).first
            return [
                "row": .int(number), "column": place.map { .string($0.column) } ?? .null,
                "member": member.map(JSON.string) ?? .null, "message": .string(failure.message),
                "remedy": failure.hint.map(JSON.string) ?? .null,
            ]
        }
    }

    /// What is wrong with all rows of new resources alike. It is reported once.
    /// - Parameter names: those that ``unmapped(_:)`` returned.
    func commonProblems(_ names: Set<String>) -> [JSON] {
        required.filter { names.contains($0.name) }.map { member in
            [
                "row": .null, "column": .null, "member": .string(member.name),
                "message": .string(localized("'\(member.name)' is required, but no column maps to it.")),
                "remedy": .string(localized("Choose a column for it, or add one to the file.")),
            ]
        }
    }
}

extension RequestFailure {
    /// This failure and the others.
    var everything: [RequestFailure] { [self] + others }

    /// - Parameter failures: at least one.
    static func together(_ failures: [RequestFailure]) -> RequestFailure {
        var first = failures[0]
        first.others = Array(failures.dropFirst().prefix(ResourceChange.maximumProblemCount))
        return first
    }
}
