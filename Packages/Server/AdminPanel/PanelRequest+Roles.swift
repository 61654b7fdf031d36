import AdminService
import TomboloRules

extension PanelRequest {
    /// Demands the password before objects of a class change, if they give roles: that changes who may do what.
    func demandPassword(changingClassAt classIndex: Int?, under rules: Rules) async throws {
        guard rules.grantColumns.contains(where: { $0.classIndex == classIndex }) else { return }
        try await demandPassword()
    }

    /// Demands the password before objects come back from the trash, if some of them give roles.
    func demandPassword(restoring address: TrashAddress, in trash: Trash, under rules: Rules) async throws {
        guard try await trash.givesRoles(at: address, under: rules) else { return }
        try await demandPassword()
    }
}
