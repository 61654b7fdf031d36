import HTTPTypes
import Hummingbird
import TomboloHTTP
import TomboloModel

/// `application/vnd.api+json`, and the specification's rules for its parameters.
enum JSONAPIMediaType {
    static let name = "application/vnd.api+json"
    static let atomic = "https://jsonapi.org/ext/atomic"

    /// One media type in a header, with its parameters.
    private struct Item {
        let type: String
        let parameters: [(name: String, value: String)]

        init(_ text: some StringProtocol) {
            let parts = text.split(separator: ";").map { part in
                part.split(whereSeparator: { $0 == " " || $0 == "\t" }).joined()
            }
            type = parts.first?.lowercased() ?? ""
            parameters = parts.dropFirst().map { part in
                let sides = part.split(separator: "=", maxSplits: 1)
                let value = sides.count > 1 ? sides[1].filter { $0 != "\"" } : ""
                return (sides.first?.lowercased() ?? "", value)
            }
        }

        /// Parameters that JSON:API doesn't know, and unexpected extensions.
        func strangers(_ knownExtension: String?) -> [String] {
            parameters.compactMap { name, value in
                switch name {
                case "profile", "q": nil
                case "ext": value == knownExtension ? nil : "ext=\"\(value)\""
                default: name
                }
            }
        }
    }

    /// - Parameter knownExtension: the URI of an extension that the address supports.
    /// - Throws: ``RequestFailure`` with status 406 if the caller doesn't accept answers of this type.
    static func checkAccept(_ request: Request, knownExtension: String? = nil) throws {
        guard let accept = request.headers[.accept] else { return }
        let items = accept.split(separator: ",").map { Item($0) }
        guard !items.isEmpty else { return }
        let isTaken = items.contains { item in
            switch item.type {
            case name: item.strangers(knownExtension).isEmpty
            case "*/*", "application/*", "application/json": true
            default: false
            }
        }
        guard !isTaken else { return }
        throw RequestFailure(
            .notAcceptable, "The response is \(name), which the Accept header doesn't allow.",
            hint: "Send Accept: \(name), without parameters other than 'profile'"
                + (knownExtension.map { " and ext=\"\($0)\"." } ?? "."),
            source: .header("Accept"))
    }

    /// - Throws: ``RequestFailure`` with status 415 for a body of another type.
    static func checkContent(_ request: Request, requiredExtension: String? = nil) throws {
        let wanted = requiredExtension.map { "\(name);ext=\"\($0)\"" } ?? name
        let item = request.headers[.contentType].map { Item($0) }
        let hasExtension = item?.parameters.contains { $0.name == "ext" && $0.value == requiredExtension } ?? false
        guard let item, item.type == name, item.strangers(requiredExtension).isEmpty,
            requiredExtension == nil || hasExtension
        else {
            throw RequestFailure(
                .unsupportedMediaType, "The body must be \(wanted).", hint: "Send the header Content-Type: \(wanted).",
                source: .header("Content-Type"))
        }
    }
}
