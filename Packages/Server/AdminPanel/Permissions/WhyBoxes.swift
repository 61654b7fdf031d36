import AdminService
import TomboloHTTP
import TomboloLocalization
import TomboloModel
import TomboloRules
import TomboloServerModel

/// Finds the boxes of a permission matrix that explain a refusal, for callers who may see the matrix.
struct WhyBoxes {
    let grant: AnyMatrixGrant
    let subject: Subject
    let className: String
    /// The object in question, which decides which roles apply; nil for objects of the class in general.
    let row: Row?

    /// The boxes that would have to be ticked for a refused permission; empty if it isn't refused, or if ticking a box
    /// wouldn't change anything.
    func deciding(_ permission: Explanation.Permission) -> [WhyContent.Box] {
        let model = grant.model
        guard !(permission.isPermitted ?? (permission.filter != .constant(false))),
            PermissionMatrix.operations.contains(permission.operation),
            let (app, found) = model.explainBoxes(subject, permission.operation, className: className, row: row),
            let matrix = model.matrices[app], model.refusal(grant.subject, .read, ofMatrixOf: app) == nil
        else { return [] }
        guard !found.boxes.isEmpty else {
            let service = ClassTitle.service(found.service)
            let text =
                row == nil
                ? localized("None of their roles has a box for \(service).")
                : localized("None of their roles there has a box for \(service).")
            return [WhyContent.Box(text: text, link: PermissionLinks(app).grid)]
        }
        guard !found.boxes.contains(where: matrix.permits) else { return [] }
        let mayChange = model.refusal(grant.subject, .update, ofMatrixOf: app) == nil
        return found.boxes.map { box in
            let (role, verb, service) = (localizedName(box.role), box.operation.verb, ClassTitle.service(box.service))
            return WhyContent.Box(
                text: localized("The box is off: \(role) may not \(verb) \(service)."),
                link: mayChange
                    ? PermissionLinks.box(app, box, version: model.ruleVersions[app] ?? 0, allowed: true)
                    : PermissionLinks(app).grid)
        }
    }
}
