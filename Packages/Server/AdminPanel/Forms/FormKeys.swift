import Foundation
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel

/// The keys of objects that a form creates. They are derived from the form and its input, so that a form that arrives
/// twice asks for the same object twice. Going back and entering something else creates another object.
///
/// Nobody can choose such a key, because it's an HMAC keyed with the session. An object with that key was made by this
/// form.
struct FormKeys: Sendable {
    /// The hidden field that tells two forms of the same class apart.
    static let field = "_seed"

    /// The seed of the submitted form; a new one for a fresh page. A generated ObjectId begins with its time, by which
    /// lists are sorted.
    let seed: ObjectId
    private let token: PanelToken

    init(_ request: PanelRequest) {
        seed = request.form[Self.field].flatMap { try? ObjectId(string: $0) } ?? .generate()
        token = request.visit.token
    }

    /// Whether new objects of a class get a generated id.
    static func make(_ type: ResourceType) -> Bool { [.objectId, .uuid].contains(type.keyType) }

    /// - Parameters:
    ///   - type: a class whose keys are generated.
    ///   - place: the object's place in the form, which may create several; empty for the form's own object.
    ///   - entered: everything that the form says about the object and about those made along with it.
    func key(of type: ResourceType, at place: String, _ entered: JSON) -> Value {
        let code = token.code(
            of: CellText.compact([.string(seed.stringValue), .string(type.name), .string(place), entered]))
        guard type.keyType == .uuid else {
            return .objectId(ObjectId(bytes: seed.bytes.prefix(4) + code.prefix(8)) ?? seed)
        }
        var bytes = Array(code.prefix(MemoryLayout<uuid_t>.size))
        // RFC 9562, version 8: the application defines the other bits.
        bytes[6] = bytes[6] & 0x0f | 0x80
        bytes[8] = bytes[8] & 0x3f | 0x80
        return .uuid(UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }))
    }
}
