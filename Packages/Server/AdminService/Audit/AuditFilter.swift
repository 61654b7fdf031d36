import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloPostgresStore
import TomboloLocalization

/// A filter of the audit log, read from query parameters. Each parameter may occur once, and an entry must match all
/// of them.
struct AuditFilter: Sendable {
    /// The operations of entries, as parameters name them.
    enum Operation: String, CaseIterable {
        case create, update, delete, trash, restore
        /// An object that existed before the log began.
        case baseline
        /// The log began here, or lacks what happened before.
        case gap
    }

    /// Where a change came from.
    enum Source: String, CaseIterable {
        case http, sync, sql, system

        var code: String {
            switch self {
            case .http: "h"
            case .sync: "s"
            case .sql: "q"
            case .system: "y"
            }
        }

        init?(code: String) {
            guard let found = Self.allCases.first(where: { $0.code == code }) else { return nil }
            self = found
        }
    }

    static let defaultLimit = 50
    static let maximumLimit = 200
    /// The limit in bytes for each text to search for in keys, users and values.
    static let maximumTextByteCount = 200

    var className: String?
    var key: String?
    var user: String?
    /// Microseconds since 1970.
    var from: Int64?
    var to: Int64?
    var operation: Operation?
    var source: Source?
    var text: String?
    var after: AuditCursor?
    /// A single entry. Not a query parameter, since a caller who knows an entry's number may not be allowed to see
    /// the entry.
    var id: Int64?
    var limit = Self.defaultLimit

    /// A single entry of an object.
    init(className: String, key: String, id: Int64) {
        (self.className, self.key, self.id) = (className, key, id)
    }

    private static let names = [
        "class", "object", "user", "from", "to", "operation", "source", "text", "after", "limit",
    ]

    /// - Parameter fixed: names of parameters that the path already determines.
    /// - Throws: ``RequestFailure`` with status 400 for a parameter that doesn't exist, occurs twice, or has an
    ///   invalid value.
    init(_ parameters: [(name: String, value: String)], without fixed: Set<String> = []) throws {
        var seen: Set<String> = []
        for (name, value) in parameters {
            guard Self.names.contains(name), !fixed.contains(name) else {
                let known = Self.names.filter { !fixed.contains($0) }.joined(separator: ", ")
                throw RequestFailure(
                    .badRequest, localized("The audit log can't be filtered by one of these parameters."),
                    hint: localized("The filters are \(known)."))
            }
            guard seen.insert(name).inserted else {
                throw RequestFailure(
                    .badRequest, localized("'\(name)' occurs twice."), hint: localized("Give each parameter once."))
            }
            guard value.utf8.count <= Self.maximumTextByteCount, !value.utf8.contains(0) else {
                throw RequestFailure(
                    .badRequest,
                    localized("'\(name)' is longer than \(Self.maximumTextByteCount) bytes, or contains U+0000."),
                    hint: localized("Search for a shorter part of it."))
            }
            try set(name, value)
        }
    }

    private mutating func set(_ name: String, _ value: String) throws {
        switch name {
        case "class": className = value
        case "object": key = value
        case "user": user = value
        case "from": from = try Self.time(name, value)
        case "to": to = try Self.time(name, value)
        case "operation":
            operation = try Self.choice(name, value)
        case "source":
            source = try Self.choice(name, value)
        case "text":
            guard !value.isEmpty else {
                throw RequestFailure(
                    .badRequest, localized("'text' is empty."), hint: localized("Leave it out to see all entries."))
            }
            text = value
        case "after":
            guard let cursor = AuditCursor(value) else {
                throw RequestFailure(.badRequest, localized("'after' must be the 'next' value of an earlier response."))
            }
            after = cursor
        default:
            guard let number = Int(value), (1...Self.maximumLimit).contains(number) else {
                throw RequestFailure(.badRequest, localized("'limit' must be a number from 1 to \(Self.maximumLimit)."))
            }
            limit = number
        }
    }

    private static func time(_ name: String, _ value: String) throws -> Int64 {
        guard let time = Timestamp.microseconds(value) else {
            throw RequestFailure(
                .badRequest, localized("'\(name)' isn't a date or time."),
                hint: localized("Write 2026-05-14 or 2026-05-14T13:22:18Z."))
        }
        return time
    }

    private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ value: String
    ) throws -> Choice {
        guard let choice = Choice(rawValue: value) else {
            let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw RequestFailure(
                .badRequest, localized("There is no such \(name)."), hint: localized("Choose one of \(known)."))
        }
        return choice
    }
}
