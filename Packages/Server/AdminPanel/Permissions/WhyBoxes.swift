import AdminService
import TomboloModel
import TomboloRules
import TomboloServerModel

/// Which boxes of a permission matrix are why somebody may not do something, for callers who may see the matrix.
struct WhyBoxes {
    let grant: AnyMatrixGrant
    let subject: Subject
    let className: String
    /// The object that it's about, with which roles count; nil for objects of the class in general.
    let row: Row?

    /// The boxes that would have to be ticked for a permission that is refused; empty if it isn't, or if ticking a box would
    /// change nothing.
    func deciding(_ permission: Explanation.Permission) -> [WhyContent.Box] {
        let model = grant.model
        guard !(permission.isPermitted ?? (permission.filter != .constant(false))),
            PermissionMatrix.operations.contains(permission.operation),
            let (app, found) = model.explainBoxes(subject, permission.operation, className: className, row: row),
            let matrix = model.matrices[app], model.refusal(grant.subject, .read, ofMatrixOf: app) == nil
        else { return [] }
        guard !found.boxes.isEmpty else {
            let place = row == nil ? "" : " where it belongs"
            return [
                WhyContent.Box(
                    text: "No role of theirs\(place) has a box for \(found.service).", link: PermissionLinks(app).grid)
            ]
        }
        guard !found.boxes.contains(where: matrix.permits) else { return [] }
        let mayChange = model.refusal(grant.subject, .update, ofMatrixOf: app) == nil
        return found.boxes.map { box in
            WhyContent.Box(
                text: "The box is off: \(box.role) may not \(box.operation) \(box.service).",
                link: mayChange
                    ? PermissionLinks.box(app, box, version: model.ruleVersions[app] ?? 0, allowed: true)
                    : PermissionLinks(app).grid)
        }
    }
}
