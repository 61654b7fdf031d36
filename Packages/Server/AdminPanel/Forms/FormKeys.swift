import Foundation
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel

/// The keys of what a form makes. They follow from the form and from what was entered, so that a form that arrives twice asks
/// for the same object twice. Who goes back and enters something else gets another object.
///
/// Nobody can choose such a key: it's an HMAC by the session. An object that has it was made by this form.
struct FormKeys: Sendable {
    /// The hidden field that tells two forms of the same class apart.
    static let field = "_seed"

    /// Of the form that was sent; fresh for a page. An ObjectId that is made begins with its time, which lists are sorted by.
    let seed: ObjectId
    private let token: PanelToken

    init(_ request: PanelRequest) {
        seed = request.form[Self.field].flatMap { try? ObjectId(string: $0) } ?? .generate()
        token = request.visit.token
    }

    /// Whether new objects of a class get an id without anybody choosing it.
    static func make(_ type: ResourceType) -> Bool { [.objectId, .uuid].contains(type.keyType) }

    /// - Parameters:
    ///   - type: one of those whose keys are made.
    ///   - place: of the object in the form, of which a form can make several: empty for its own.
    ///   - entered: all that the form says of the object and of what is made with it.
    func key(of type: ResourceType, at place: String, _ entered: JSON) -> Value {
        let code = token.code(
            of: CellText.compact([.string(seed.stringValue), .string(type.name), .string(place), entered]))
        guard type.keyType == .uuid else {
            return .objectId(ObjectId(bytes: seed.bytes.prefix(4) + code.prefix(8)) ?? seed)
        }
        var bytes = Array(code.prefix(MemoryLayout<uuid_t>.size))
        // Version 8 of RFC 9562: the application says what the bits are.
        bytes[6] = bytes[6] & 0x0f | 0x80
        bytes[8] = bytes[8] & 0x3f | 0x80
        return .uuid(UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }))
    }
}
