import TomboloHTTP
public import TomboloModel

/// Where a ticket is to go among the tickets of its event.
public enum TicketMove: Hashable, Sendable {
    case before(ObjectId)
    case after(ObjectId)
    case first
    case last

    /// The ticket that the place is given by.
    var anchor: ObjectId? {
        switch self {
        case .before(let id), .after(let id): id
        case .first, .last: nil
        }
    }
}

extension TicketMove {
    /// From the body of a request: exactly one of `{"before": id}`, `{"after": id}`, `{"first": true}`,
    /// `{"last": true}`.
    /// - Throws: ``RequestFailure`` with status 422 for anything else.
    init(_ body: JSON) throws {
        guard case .object(let members) = body, members.count == 1, let (name, value) = members.first else {
            throw Self.malformed
        }
        switch (name, value) {
        case ("before", .string(let text)): self = .before(try Self.id(text, name))
        case ("after", .string(let text)): self = .after(try Self.id(text, name))
        case ("first", .bool(true)): self = .first
        case ("last", .bool(true)): self = .last
        default: throw Self.malformed
        }
    }

    private static func id(_ text: String, _ name: String) throws -> ObjectId {
        guard let id = try? ObjectId(string: text) else {
            throw RequestFailure(.unprocessable, "'\(name)' is not an id.", hint: "An id has 24 hexadecimal digits.")
        }
        return id
    }

    private static let malformed = RequestFailure(
        .unprocessable, "The body does not say where the ticket goes.",
        hint: #"Send one of {"before": ID}, {"after": ID}, {"first": true}, {"last": true}."#)
}
