import ChildPrograms

/// Runs the built program in separate processes.
enum Susi {
    static func start(_ arguments: [String]) async throws -> ProgramRun {
        try await ProgramRun(program.url, arguments)
    }

    static func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> ProgramRun.Outcome {
        try await program.run(arguments, environment: environment)
    }

    private static var program: BuiltProgram { get throws { try BuiltProgram("susi", "SUSI") } }
}
