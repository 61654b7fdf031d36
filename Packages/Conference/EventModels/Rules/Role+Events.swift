internal import TomboloRules

extension Role {
    init(_ role: RoleName) { self.init(role.rawValue) }
}
