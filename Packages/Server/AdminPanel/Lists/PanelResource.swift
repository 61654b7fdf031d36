import Foundation
public import TomboloHTTP
import TomboloJSONAPI
import TomboloModel

/// A resource as the API shows it to the caller, split into parts for a page.
public struct PanelResource: Sendable {
    public let id: String
    /// The version of what the caller sees; nil if only some fields were read.
    let version: String?
    /// The size of the whole resource as the API shows it.
    let byteCount: Int
    private let attributes: [String: JSON]
    private let relationships: [String: JSON]

    init(_ resource: ResourceReader.Resource) throws {
        var bytes = JSONBytes(capacity: 1_024)
        version = try resource.plan.append(resource.row, to: &bytes)
        byteCount = bytes.bytes.count
        let json = try JSONDecoder().decode(JSON.self, from: Data(bytes.bytes))
        guard case .string(let id) = json["id"] else {
            throw RequestFailure(.internalError, "A resource has no id.")
        }
        self.id = id
        attributes = json["attributes"].flatMap { if case .object(let members) = $0 { members } else { nil } } ?? [:]
        relationships =
            json["relationships"].flatMap { if case .object(let members) = $0 { members } else { nil } } ?? [:]
    }

    /// The value of an attribute; nil if the API leaves it out.
    public func attribute(_ name: String) -> JSON? { attributes[name] }

    /// An attribute as people read it, such as `3` or `Yes`. A time is in the API's format; a missing attribute is
    /// empty.
    public func text(_ name: String) -> String {
        guard let json = attributes[name], json != .null else { return "" }
        return CellText.plain(json)
    }

    /// The ids in a relationship; nil if there are too many to show.
    public func linked(_ name: String) -> [String]? {
        switch relationships[name]?["data"] {
        case .object(let identifier)?: Self.id(.object(identifier)).map { [$0] } ?? []
        case .array(let identifiers)?: identifiers.compactMap(Self.id)
        case .null?: []
        default: nil
        }
    }

    private static func id(_ identifier: JSON) -> String? {
        if case .string(let id) = identifier["id"] { id } else { nil }
    }

    /// The object's title, or its id if it has none.
    func title(_ field: ResourceField?) -> String { Self.title(field.flatMap { attributes[$0.name] }, id: id) }

    /// An object's title.
    /// - Parameter value: the value of the title property; nil if there is none.
    static func title(_ value: JSON?, id: String) -> String {
        guard case .string(let text)? = value, text.contains(where: { !$0.isWhitespace }) else { return id }
        return text.shortened(toByteCount: 120)
    }
}
