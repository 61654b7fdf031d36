import AdminService
import Foundation
import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel

/// Bytes in a form: the current ones stay on the server, and a file replaces them.
extension EditPage {
    private static let bytesTemplate = PanelTemplate(PackageResources.form_bytes_mustache)

    var byteFields: [ResourceField] { view.fields(of: type).filter(\.isBytes) }

    /// The checkbox that removes the current bytes.
    static func clearName(_ field: ResourceField) -> String { "x.\(field.name)" }
    /// The hidden field with the description of the current bytes.
    static func sizeName(_ field: ResourceField) -> String { "s.\(field.name)" }

    /// The description of bytes; nil if there are none.
    static func size(_ json: JSON?, _ field: ResourceField) -> String? {
        guard let json, json != .null else { return nil }
        return CellText.value(json, field)["text"] as? String
    }

    /// The control for a file, for the template `edit`.
    func bytesControl(_ field: ResourceField, _ content: Content, isNew: Bool) -> [String: Any] {
        let wrong = content.problems.filter { $0.formPath == field.name }
        let size = content.copied[field.name].flatMap { Self.size($0, field) } ?? content.sizes[field.name]
        var values: [String: Any] = [
            "label": ClassTitle.words(field.name), "id": "f-\(field.name)", "name": "f.\(field.name)",
            "sizeName": Self.sizeName(field), "size": content.sizes[field.name] ?? "",
            "text": size ?? localized("none"),
            "isRequired": isNew && field.isRequiredOnCreation && content.copied[field.name] == nil,
            "megabytes": PanelForm.maximumFileByteCount >> 20, "hasWrong": !wrong.isEmpty,
            "wrong": wrong.map { problem in
                ["text": problem.hint.map { "\(problem.message) \($0)" } ?? problem.message]
            },
        ]
        if let hint = field.hint { values["about"] = localizedText(hint) }
        // A page can't preselect a file.
        if case .string? = content.bytes[field.name] { values["isLost"] = true }
        if !isNew, size != nil { values["download"] = BytesPages.path(of: type, id: request.parameter("id"), field) }
        if !isNew, content.images.contains(field.name), request.core.makesThumbnails {
            values["image"] = [
                "path": BytesPages.imagePath(of: type, id: request.parameter("id"), field, .large, request.core),
                "label": ClassTitle.words(field.name),
            ]
        }
        if field.isOptional, size != nil, content.copied[field.name] == nil {
            values["clear"] = [
                "name": Self.clearName(field), "isChosen": content.bytes[field.name] == .null,
                "label": ClassTitle.inSentence(ClassTitle.words(field.name)),
            ]
        }
        return ["isPart": true, "partHTML": Self.bytesTemplate.render(values)]
    }
}
