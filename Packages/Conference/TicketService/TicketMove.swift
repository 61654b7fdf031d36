import TomboloHTTP
public import TomboloModel

/// Where to move a ticket among the tickets of its event.
public enum TicketMove: Hashable, Sendable {
    case before(ObjectId)
    case after(ObjectId)
    case first
    case last

    /// The ticket that the new place is relative to.
    var anchor: ObjectId? {
        switch self {
        case .before(let id), .after(let id): id
        case .first, .last: nil
        }
    }
}

extension TicketMove: Decodable {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Decodes the body of a request: exactly one of `{"before": id}`, `{"after": id}`, `{"first": true}`, `{"last":
    /// true}`.
    /// - Throws: ``RequestFailure`` with status 422 for anything else.
    public init(from decoder: any Decoder) throws {
        guard let members = try? decoder.container(keyedBy: Name.self), members.allKeys.count == 1,
            let name = members.allKeys.first
        else { throw Self.malformed }
        switch name.stringValue {
        case "before": self = .before(try Self.id(members, name))
        case "after": self = .after(try Self.id(members, name))
        case "first" where (try? members.decode(Bool.self, forKey: name)) == true: self = .first
        case "last" where (try? members.decode(Bool.self, forKey: name)) == true: self = .last
        default: throw Self.malformed
        }
    }

    private static func id(_ members: KeyedDecodingContainer<Name>, _ name: Name) throws -> ObjectId {
        guard let text = try? members.decode(String.self, forKey: name) else { throw malformed }
        guard let id = try? ObjectId(string: text) else {
            throw RequestFailure(
                .unprocessable, "'\(name.stringValue)' isn't an id.", hint: "An id has 24 hexadecimal digits.")
        }
        return id
    }

    private static var malformed: RequestFailure {
        RequestFailure(
            .unprocessable, "The body doesn't say where the ticket goes.",
            hint: #"Send one of {"before": ID}, {"after": ID}, {"first": true}, {"last": true}."#)
    }
}
