public import TomboloRules

extension Role {
    public init(_ role: RoleName) { self.init(role.rawValue) }
}
