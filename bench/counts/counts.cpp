// A plugin for Oclgrind that counts what each launch of a kernel does: operations, bytes, and how
// many steps its longest work-item takes one after the other. See ../gpus.py.
//
// Appends a line of CSV for each launch to the file that the environment's ABUT_COUNTS names:
// kernel, work-items, work-groups, bytes of local memory, instructions, floating-point operations
// in float32, in float64, elementary functions, loop steps and instructions of the longest
// work-item, bytes that are asked for in global memory, and bytes of the distinct sectors of 32
// bytes that are read, and that are written.
//
// A loop step is a branch back to a block that dominates it. A fused multiply-add is two
// operations; a comparison of two floating-point numbers is one.
#include "oclgrind/Context.h"
#include "oclgrind/Kernel.h"
#include "oclgrind/KernelInvocation.h"
#include "oclgrind/Memory.h"
#include "oclgrind/Plugin.h"
#include "oclgrind/WorkItem.h"

#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace
{
constexpr size_t sector = 32;

struct instruction_cost {
  unsigned single = 0, wide = 0, functions = 0; // floating-point operations, calls
  bool counts = true;                           // not what a compiler for a device leaves out
  std::unordered_set<const llvm::BasicBlock*> back; // where a branch that ends a loop's step goes
};

struct item_counts {
  unsigned long instructions = 0, steps = 0;
};

struct launch_counts {
  unsigned long instructions = 0, single = 0, wide = 0, functions = 0, longest_steps = 0,
                longest_instructions = 0, bytes = 0;
  std::unordered_set<size_t> read, written;
};

class counter : public oclgrind::Plugin
{
public:
  explicit counter(const oclgrind::Context* context)
    : Plugin(context), out(std::getenv("ABUT_COUNTS") ? std::getenv("ABUT_COUNTS") : "counts.csv",
                           std::ios::app)
  {
  }

  bool isThreadSafe() const override
  {
    return false;
  }

  void kernelBegin(const oclgrind::KernelInvocation*) override
  {
    launch = launch_counts();
    items.clear();
    last_item = nullptr;
  }

  void instructionExecuted(const oclgrind::WorkItem* item, const llvm::Instruction* instruction,
                           const oclgrind::TypedValue&) override
  {
    const instruction_cost& cost = cost_of(instruction);
    if (!cost.counts) {
      return;
    }
    item_counts& of = counts_of(item);
    ++launch.instructions;
    ++of.instructions;
    launch.single += cost.single;
    launch.wide += cost.wide;
    launch.functions += cost.functions;
    if (!cost.back.empty()) {
      of.steps += cost.back.count(taken(item, llvm::cast<llvm::BranchInst>(instruction)));
    }
  }

  void workItemComplete(const oclgrind::WorkItem* item) override
  {
    const item_counts& of = counts_of(item);
    launch.longest_steps = std::max(launch.longest_steps, of.steps);
    launch.longest_instructions = std::max(launch.longest_instructions, of.instructions);
    items.erase(item);
    last_item = nullptr;
  }

  void memoryLoad(const oclgrind::Memory* memory, const oclgrind::WorkItem*, size_t address,
                  size_t size) override
  {
    touch(memory, address, size, launch.read);
  }

  void memoryStore(const oclgrind::Memory* memory, const oclgrind::WorkItem*, size_t address,
                   size_t size, const uint8_t*) override
  {
    touch(memory, address, size, launch.written);
  }

  void kernelEnd(const oclgrind::KernelInvocation* of) override
  {
    const oclgrind::Size3 all = of->getGlobalSize(), groups = of->getNumGroups();
    out << of->getKernel()->getName() << ',' << all.x * all.y * all.z << ','
        << groups.x * groups.y * groups.z << ',' << of->getKernel()->getLocalMemorySize() << ','
        << launch.instructions << ',' << launch.single << ',' << launch.wide << ','
        << launch.functions << ',' << launch.longest_steps << ',' << launch.longest_instructions
        << ',' << launch.bytes << ',' << sector * launch.read.size() << ','
        << sector * launch.written.size() << std::endl;
  }

private:
  std::ofstream out;
  launch_counts launch;
  std::unordered_map<const oclgrind::WorkItem*, item_counts> items;
  std::unordered_map<const llvm::Instruction*, instruction_cost> costs;
  std::unordered_map<const llvm::Function*, llvm::DominatorTree> trees;
  const oclgrind::WorkItem* last_item = nullptr;
  item_counts* last_counts = nullptr;

  item_counts& counts_of(const oclgrind::WorkItem* item)
  {
    if (item != last_item) {
      last_counts = &items[item];
      last_item = item;
    }
    return *last_counts;
  }

  void touch(const oclgrind::Memory* memory, size_t address, size_t size,
             std::unordered_set<size_t>& sectors)
  {
    const unsigned space = memory->getAddressSpace();
    if (space != oclgrind::AddrSpaceGlobal) {
      return;
    }
    launch.bytes += size;
    for (size_t at = address / sector; at <= (address + size - 1) / sector; ++at) {
      sectors.insert(at);
    }
  }

  const instruction_cost& cost_of(const llvm::Instruction* instruction)
  {
    const auto found = costs.find(instruction);
    return found != costs.end() ? found->second
                                : costs.emplace(instruction, find_cost(instruction)).first->second;
  }

  static const llvm::BasicBlock* taken(const oclgrind::WorkItem* item,
                                       const llvm::BranchInst* branch)
  {
    return branch->getSuccessor(branch->isConditional() &&
                                !item->getOperand(branch->getCondition()).getUInt());
  }

  static void add_operations(instruction_cost& cost, const llvm::Type* type, unsigned each)
  {
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    const unsigned count = each * (vector ? vector->getNumElements() : 1);
    (type->getScalarType()->isDoubleTy() ? cost.wide : cost.single) += count;
  }

  void find_branches(instruction_cost& cost, const llvm::BranchInst* branch)
  {
    auto* function = const_cast<llvm::Function*>(branch->getFunction());
    auto& tree = trees[function];
    if (!tree.getRootNode()) {
      tree.recalculate(*function);
    }
    for (const llvm::BasicBlock* to : branch->successors()) {
      if (tree.dominates(to, branch->getParent())) {
        cost.back.insert(to);
      }
    }
  }

  static void find_call(instruction_cost& cost, const llvm::CallInst* call)
  {
    const llvm::Function* callee = call->getCalledFunction();
    const std::string name = callee ? callee->getName().str() : "";
    static const char* const products[] = {"fma", "mad", "fmuladd"};
    static const char* const functions[] = {"sqrt", "exp", "log",  "pow", "sin",
                                            "cos",  "tan", "asin", "acos", "recip"};
    static const char* const silent[] = {"lifetime", "dbg", "assume", "noalias"};
    const llvm::Type* type = call->getType();
    for (const char* part : silent) {
      cost.counts = cost.counts && name.find(part) == std::string::npos;
    }
    if (!type->isFPOrFPVectorTy()) {
      return;
    }
    for (const char* part : products) {
      if (name.find(part) != std::string::npos) {
        add_operations(cost, type, 2);
        return;
      }
    }
    for (const char* part : functions) {
      if (name.find(part) != std::string::npos) {
        cost.functions = 1;
        return;
      }
    }
    if (callee && callee->isDeclaration()) {
      add_operations(cost, type, 1);
    }
  }

  instruction_cost find_cost(const llvm::Instruction* instruction)
  {
    instruction_cost cost;
    switch (instruction->getOpcode()) {
      case llvm::Instruction::FAdd:
      case llvm::Instruction::FSub:
      case llvm::Instruction::FMul:
      case llvm::Instruction::FNeg:
        add_operations(cost, instruction->getType(), 1);
        break;
      case llvm::Instruction::FDiv:
      case llvm::Instruction::FRem:
        cost.functions = 1;
        break;
      case llvm::Instruction::FCmp:
        add_operations(cost, instruction->getOperand(0)->getType(), 1);
        break;
      case llvm::Instruction::Br:
        find_branches(cost, llvm::cast<llvm::BranchInst>(instruction));
        break;
      case llvm::Instruction::Call:
        find_call(cost, llvm::cast<llvm::CallInst>(instruction));
        break;
      case llvm::Instruction::PHI: // no more than names of registers
      case llvm::Instruction::BitCast:
      case llvm::Instruction::Alloca:
      case llvm::Instruction::AddrSpaceCast:
        cost.counts = false;
        break;
      default:
        break;
    }
    return cost;
  }
};

// What clang's inliner leaves in kernels, and Oclgrind 21.10 does not know: it does nothing.
void pass_over(oclgrind::WorkItem*, const llvm::CallInst*, const std::string&, const std::string&,
               oclgrind::TypedValue&, void*)
{
}

counter* made;
} // namespace

extern "C" void initializePlugins(oclgrind::Context* context)
{
  oclgrind::workItemBuiltins["llvm.experimental.noalias.scope.decl"] =
    oclgrind::BuiltinFunction(pass_over, nullptr);
  made = new counter(context);
  context->registerPlugin(made);
}

extern "C" void releasePlugins(oclgrind::Context* context)
{
  context->unregisterPlugin(made);
  delete made;
}
