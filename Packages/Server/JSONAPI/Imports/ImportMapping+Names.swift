import TomboloHTTP
import TomboloModel

extension ImportMapping {
    /// All that a column can become, as an export names it.
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

    /// The member that each column probably is: the one of the same name, or of one that differs in case, blanks and marks
    /// only.
    package static func suggestions(
        _ columns: [String], of type: ResourceType, _ view: CallerView
    ) -> [String: String] {
        func plain(_ name: String) -> String { name.lowercased().filter { $0.isLetter || $0.isNumber } }
        var free = memberNames(of: type, view)
        var result: [String: String] = [:]
        for isExact in [true, false] {
            for column in columns where result[column] == nil {
                let wanted = isExact ? column : plain(column)
                guard !wanted.isEmpty, let found = free.first(where: { (isExact ? $0 : plain($0)) == wanted }) else {
                    continue
                }
                // An object as a whole and its members don't go together.
                free.removeAll { $0 == found || $0.hasPrefix("\(found).") || found.hasPrefix("\($0).") }
                result[column] = found
            }
        }
        return result
    }

    /// What rows are matched by.
    var matchJSON: JSON { .array((match?.names ?? ["id"]).map(JSON.string)) }

    // MARK: What is wrong, and where

    /// The column that a failure is about, and its member.
    private func place(of failure: RequestFailure) -> (member: String, column: String)? {
        guard case .pointer(let pointer)? = failure.source else { return nil }
        return places.first { pointer == $0.pointer || pointer.hasPrefix("\($0.pointer)/") }
            .map { ($0.member, $0.column.name) }
    }

    /// The same, with the columns' names in the messages.
    func located(_ failure: RequestFailure) -> RequestFailure {
        var result = failure
        if let place = place(of: failure) {
            result.message = "Column '\(place.column.shortened(toByteCount: 60))': \(failure.message)"
        }
        result.others = failure.others.map(located)
        return result
    }

    /// Everything that is wrong with a row, as a preview tells it.
    func problems(_ failure: RequestFailure, row number: Int64) -> [JSON] {
        ([failure] + failure.others).map { failure in
            let place = place(of: failure)
            return [
                "row": .int(number), "column": place.map { .string($0.column) } ?? .null,
                "member": place.map { .string($0.member) } ?? .null, "message": .string(failure.message),
                "remedy": failure.hint.map(JSON.string) ?? .null,
            ]
        }
    }
}
