import AdminService
import TomboloRules

extension PanelRequest {
    /// Demands the password before objects of a class are changed, if they grant roles: such a change affects
    /// permissions.
    func demandPassword(changingClassAt classIndex: Int?, under rules: Rules) async throws {
        guard rules.grantColumns.contains(where: { $0.classIndex == classIndex }) else { return }
        try await demandPassword()
    }

    /// Demands the password before objects are restored from the trash, if some of them grant roles.
    func demandPassword(restoring address: TrashAddress, in trash: Trash, under rules: Rules) async throws {
        guard try await trash.givesRoles(at: address, under: rules) else { return }
        try await demandPassword()
    }
}
