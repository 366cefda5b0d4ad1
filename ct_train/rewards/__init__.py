"""Rewards for rollouts: the paper's consistency reward, its ablations, and the baselines' rewards, on one interface.

The consistency reward is ``ct_tasks.contra.scoring`` itself: what scores an evaluation rewards a rollout.
"""

from ct_train.rewards.base import REWARDS, Reward, RewardResult, Sample, build

__all__ = ["REWARDS", "Reward", "RewardResult", "Sample", "build"]
